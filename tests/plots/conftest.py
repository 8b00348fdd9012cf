import matplotlib as mpl
import pytest

mpl.use("Agg")


@pytest.fixture(autouse=True)
def no_figures_left():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")
