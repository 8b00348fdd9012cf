"""One cluster of two processes for all tests of this folder; it is started by the first that needs it."""

import pytest

pytest.importorskip("distributed")


@pytest.fixture(scope="session")
def client():
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, memory_limit="1GiB", dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client
