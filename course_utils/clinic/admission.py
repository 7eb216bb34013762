"""Who is in the clinic: the names of the faults, and the letters behind which they hide."""

from course_utils.clinic.faults import (
    DropsOut,
    Frozen,
    KeepsAfterEdit,
    KeepsAfterUpdate,
    LastTwice,
    NoTriangle,
    OffByOne,
    OneLayersKeys,
    Restarting,
    RoundsKeys,
    SeesPads,
    Specimen,
    StoresNoFirst,
    Tiled,
    TopLeft,
    TurnedTwice,
)
from course_utils.transformer import Transformer

SOUND = "sound"
_BY_NAME = {
    "positions restart at 0": Restarting,
    "positions off by one": OffByOne,
    "position frozen": Frozen,
    "last prompt token fed twice": LastTwice,
    "first token never stored": StoresNoFirst,
    "mask aligned top-left": TopLeft,
    "pads can be seen": SeesPads,
    "no causal mask in a chunk": NoTriangle,
    "rotary applied twice": TurnedTwice,
    "keys of layer 0 everywhere": OneLayersKeys,
    "heads tiled": Tiled,
    "dropout left on": DropsOut,
    "old keys after an edit": KeepsAfterEdit,
    "old keys after a weight update": KeepsAfterUpdate,
    "keys rounded to bfloat16": RoundsKeys,
    SOUND: Specimen,
}
FAULTS = tuple(_BY_NAME)  # what a specimen may be diagnosed with, "sound" included
DIAGNOSES = dict(zip("ABCDEFGHIJKLMNOP", (FAULTS[(7 * place + 9) % 16] for place in range(16)), strict=True))


def planted(fault: str, sound: Transformer, letter: str = "") -> Specimen:
    """A specimen with this fault and the sound model's weights. fault: one of FAULTS."""
    if fault not in _BY_NAME:
        raise ValueError(f"fault is {fault!r}; expected one of {', '.join(FAULTS)}.")
    specimen = _BY_NAME[fault](sound.config)
    specimen.load_state_dict(sound.state_dict())
    specimen.letter = letter
    return specimen.eval()


def admit(sound: Transformer) -> dict[str, Specimen]:
    """The sixteen specimens, by letter: each fault once, and one that is sound."""
    return {letter: planted(fault, sound, letter) for letter, fault in DIAGNOSES.items()}
