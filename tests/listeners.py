"""What listens to long work in tests: it keeps what it is told, and may end the work in the midst of it."""

from sciretrieve.progress import Silent


class Notes(Silent):
    """Keeps the notes, and what is counted: the units, and the total and what had been done before of the last."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.units: list[str] = []
        self.total: int | None = None
        self.before = 0

    def start(self, total: int | None, done: int = 0, unit: str = "papers") -> None:
        self.total, self.before = total, done
        self.units.append(unit)

    def note(self, text: str) -> None:
        self.texts.append(text)


class Stop(Exception):
    """Stands for Ctrl-C, or for a power cut."""


class StopAfter(Notes):
    """Stops after so many papers were read, encoded or copied; or so many of one unit."""

    def __init__(self, papers: int, unit: str | None = None) -> None:
        super().__init__()
        self.papers, self.unit, self.done = papers, unit, 0

    def advance(self, papers: int) -> None:
        if self.unit not in (None, *self.units[-1:]):
            return
        self.done += papers
        if self.done >= self.papers:
            raise Stop
