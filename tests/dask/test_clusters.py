"""Real clusters: separate commands over TCP, a worker that is killed, one that comes late, a scheduler that goes."""

import os
import signal
import socket
import subprocess
import sys
import threading
import warnings
from contextlib import ExitStack

import dask.array as da
import pytest
from callbacks import Steps
from dask import delayed
from distributed import Client, KilledWorker, LocalCluster
from numpy.testing import assert_allclose
from partitioned import chunked, rankings

import labelrank
import labelrank.dask

PARAMS = {"solver": "boosting", "max_iter": 12, "tol": 0, "on_empty": "ignore"}
SIZES = (20, 0, 15, 15, 10)
WAIT = 60


class During(Steps):
    """Does something after some steps of a fit."""

    def __init__(self, step, action):
        super().__init__()
        self.step, self.action = step, action

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        super().on_fit_task_end(estimator, context, fitted_estimator=fitted_estimator)
        if len(self.names) == self.step and self.action is not None:
            action, self.action = self.action, None
            action()
        return False


class Cluster:
    """A scheduler and workers, each a command of its own."""

    def __init__(self, stack):
        self.stack, self.workers = stack, []
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        port = self.address.rpartition(":")[2]
        self.scheduler = self._start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", port)
        Client(self.address, timeout=WAIT).close()  # it is there
        self.client = stack.enter_context(Client(self.address, timeout=3))  # to look for a scheduler that has gone

    def _start(self, module, *options):
        command = [sys.executable, "-m", module, *options, "--no-dashboard"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stack.callback(process.wait)
        self.stack.callback(process.kill)
        return process

    def add_worker(self):
        options = ("--nthreads", "1", "--memory-limit", "1GiB", "--no-nanny", "--host", "127.0.0.1")
        self.workers.append(self._start("distributed.cli.dask_worker", self.address, *options))
        self.client.wait_for_workers(len([w for w in self.workers if w.poll() is None]), timeout=WAIT)


@pytest.fixture(scope="module")
def cluster():
    with ExitStack() as stack:
        cluster = Cluster(stack)
        cluster.add_worker()
        cluster.add_worker()
        yield cluster


@pytest.fixture(scope="module")
def problem():
    X, y = rankings()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = labelrank.LogLinearRanker(**PARAMS).fit(X, y)
    return (chunked(X, SIZES), chunked(y, SIZES)), local


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_commands_over_tcp_and_workers_that_come_and_go(cluster, problem):
    data, local = problem
    ranker = labelrank.dask.LogLinearRanker(**PARAMS, client=cluster.client)
    assert_allclose(ranker.fit(*data).coef_, local.coef_, atol=1e-10)

    def kill():
        os.kill(cluster.workers[0].pid, signal.SIGKILL)
        cluster.workers[0].wait()

    callback = During(4, kill)
    killed = labelrank.dask.LogLinearRanker(**PARAMS, client=cluster.client).set_callbacks(callback).fit(*data)
    assert callback.action is None
    assert_allclose(killed.coef_, local.coef_, atol=1e-10)
    assert_allclose(killed.loss_curve_, local.loss_curve_, rtol=1e-10)
    callback = During(4, cluster.add_worker)
    late = labelrank.dask.LogLinearRanker(**PARAMS, client=cluster.client).set_callbacks(callback).fit(*data)
    assert len(cluster.client.nthreads()) == 2
    assert_allclose(late.coef_, local.coef_, atol=1e-10)


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_a_scheduler_that_goes_away_and_a_fit_that_resumes(cluster, problem, tmp_path, client):
    data, local = problem
    path = tmp_path / "fit.ckpt"

    def kill():
        os.kill(cluster.scheduler.pid, signal.SIGKILL)
        cluster.scheduler.wait()

    lost = labelrank.dask.LogLinearRanker(**PARAMS, client=cluster.client, checkpoint=(path, 2))
    with pytest.raises(labelrank.dask.ClusterLostError, match=r"lost the Dask cluster at tcp://.*checkpoint="):
        lost.set_callbacks(During(5, kill)).fit(*data)
    assert not hasattr(lost, "coef_")
    with pytest.raises(RuntimeError, match=r"client is .*, not running; pass a client"):
        lost.fit(*data)
    steps = Steps()
    resumed = labelrank.dask.LogLinearRanker(**PARAMS, client=client, checkpoint=(path, 2)).set_callbacks(steps)
    assert_allclose(resumed.fit(*data).coef_, local.coef_, atol=1e-10)
    assert len(steps.names) == 12 - 4


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("LogLinearRanker", PARAMS),
        ("GradientBoostingRanker", {"max_iter": 5, "max_leaf_nodes": 3, "on_empty": "ignore"}),
    ],
)
def test_workers_that_are_paused_for_good(problem, monkeypatch, name, params):
    from distributed.core import Status

    import labelrank.dask.client as module

    def pause(dask_worker):
        dask_worker.status = Status.paused

    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    with Client(n_workers=2, processes=False, memory_limit=0, dashboard_address=":0", set_as_default=False) as client:
        ranker = getattr(labelrank.dask, name)(**params, client=client)
        ranker.set_callbacks(During(2, lambda: client.run(pause)))
        with pytest.raises(labelrank.dask.ClusterLostError, match="all workers of the Dask cluster are paused"):
            ranker.fit(*problem[0])


def test_workers_that_have_all_gone(problem, monkeypatch):
    import labelrank.dask.client as module

    monkeypatch.setattr(module, "_PATIENCE", 0.2)
    with (
        LocalCluster(n_workers=2, processes=False, memory_limit=0, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):

        def lose_them():
            cluster.scale(0)
            threading.Timer(2, cluster.scale, [1]).start()

        ranker = labelrank.dask.LogLinearRanker(**PARAMS, client=client).set_callbacks(During(2, lose_them))
        with pytest.warns(UserWarning, match="the Dask cluster has no workers; fit continues when one joins"):
            ranker.fit(*problem[0])
    assert_allclose(ranker.coef_, problem[1].coef_, atol=1e-10)


def fit_in_a_task(folder):
    return labelrank.dask.LogLinearRanker(**PARAMS).fit(*labelrank.dask.read_shards(folder)[:2])


@pytest.mark.filterwarnings("ignore:.*did not converge")
def test_fits_inside_of_tasks(client, problem, tmp_path):
    X, y = rankings()
    local = problem[1]
    for i, rows in enumerate((slice(0, 30), slice(30, 60))):
        labelrank.dask.save_shard(tmp_path / f"{i}.npz", X[rows], y[rows])
    for model in client.gather(client.map(fit_in_a_task, [tmp_path] * 3, pure=False)):  # more than there are threads
        assert_allclose(model.coef_, local.coef_, atol=1e-10)


def test_a_cluster_for_the_time_of_a_fit_is_lost_with_the_same_error(monkeypatch):
    import labelrank.dask.client as module

    def none():
        raise ValueError

    monkeypatch.setattr(Client, "current", none)
    monkeypatch.setattr(module, "LocalCluster", lambda **params: LocalCluster(n_workers=1, processes=False, **params))
    again = pytest.raises(labelrank.dask.ClusterLostError, match="were repeatedly killed on the same partition")
    with again, module.connected(None):
        raise KilledWorker("a task", None, 3)


def test_data_that_another_client_has_persisted(client, problem):
    with Client(n_workers=1, processes=False, dashboard_address=":0", set_as_default=False) as other:
        X, y = other.persist(problem[0])
        with pytest.raises(labelrank.dask.ClusterLostError, match=r"does not hold data .* another client"):
            labelrank.dask.LogLinearRanker(**PARAMS, client=client).fit(X, y)


def test_a_place_of_checkpoints_is_checked_before_data_are_read(client, tmp_path):
    rows = da.from_delayed(delayed(pytest.fail)("read"), (60, 4), dtype=float)
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        labelrank.dask.LogLinearRanker(checkpoint=tmp_path / "no" / "fit", client=client).fit(rows, rows)


def test_a_client_that_is_closed_during_a_fit(problem):
    with Client(n_workers=1, processes=False, dashboard_address=":0", set_as_default=False) as client:
        ranker = labelrank.dask.LogLinearRanker(**PARAMS, client=client).set_callbacks(During(2, client.close))
        with pytest.raises(labelrank.dask.ClusterLostError, match="lost the Dask cluster"):
            ranker.fit(*problem[0])
