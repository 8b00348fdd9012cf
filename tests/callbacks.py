"""A callback for tests: it counts the steps of a fit, and stops or interrupts it after some of them."""


class Steps:
    """Record each step of a fit and the estimator known after it.

    Parameters
    ----------
    stop_after : int, optional
        Ask to stop after this number of steps.
    interrupt_after : int, optional
        Raise KeyboardInterrupt after this number of steps, as control-C does.
    """

    def __init__(self, stop_after=None, interrupt_after=None):
        self.stop_after, self.interrupt_after = stop_after, interrupt_after
        self.names, self.fitted, self.total = [], [], None

    def setup(self, estimator, context):
        self.names, self.fitted = [], []

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator):
        if context.parent is None:
            self.total = context.max_subtasks
            return False
        self.names.append(context.task_name)
        self.fitted.append(fitted_estimator)
        if len(self.names) == self.interrupt_after:
            raise KeyboardInterrupt
        return len(self.names) == self.stop_after

    def teardown(self, estimator, context):
        pass
