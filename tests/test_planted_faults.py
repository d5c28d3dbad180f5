"""The planted faults can still be planted: each text stands once in the package, and its tests are there."""

import pytest
from planted_faults import FAULTS, guards_of, is_native, places, switched


def test_there_are_fifty_different_ones():
    assert len({fault.text for fault in FAULTS}) == len(FAULTS) >= 50
    assert [fault for fault in FAULTS if fault.wrong == fault.text] == []
    native = [fault for fault in FAULTS if is_native(fault)]
    assert len(native) >= 10 and all(fault.text.endswith(";") == fault.wrong.endswith(";") for fault in native)
    assert {switched(7, fault).count("planted(7)") for fault in native} == {1}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.breaks)
def test_a_fault_can_be_planted_in_one_place_and_its_tests_are_there(fault):
    assert len(places(fault.text)) == 1, fault.text
    assert all(guards_of(fault._replace(tests=name)) for name in fault.tests.split()), fault.tests
