"""A local sandbox for programs that know Harbor's environments by name: `tests.publish.standing:Standing`."""

import os
from pathlib import Path
from typing import Any

from rlx.sandboxes.harbor import PLACE, Place
from rlx.sandboxes.local.harbor import LocalEnvironment
from rlx.sandboxes.local.kind import Local
from rlx.settings import Settings


class Standing(LocalEnvironment):
    def __init__(self, *args: Any, **settings: Any) -> None:
        PLACE.set(Place(Local(Settings(cache_dir=Path(os.environ["RLX_CACHE"])))))
        super().__init__(*args, **settings)
