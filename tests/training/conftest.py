"""What trainings in tests do without."""

import pytest

from sciretrieve.training import results


@pytest.fixture(autouse=True)
def no_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves, which take a third of the time of a short training: a module's fixtures, which come before, have them drawn."""
    monkeypatch.setattr(results, "draw", lambda figure, target: target.write_text(""))
