"""What every keeper of dead letters promises, one claim per test. A subclass gives `letters` and `clock`."""

from tether_schemas.answers import DeadLetter
from tether_schemas.times import us_text
from tether_streams.ports import READ_BYTES_MAX, Letters, NewLetter

from tests.contracts.log_contract import START_US, Clock


def letter(payload: bytes = b"{", key: str | None = None, namespace: str | None = "acme") -> NewLetter:
    return NewLetter(namespace, "append", "data.seq: not a number", payload, key)


class LettersContract:
    """I-11: what cannot go on is kept whole, with the reason."""

    def test_a_letter_is_kept_whole_with_its_reason(self, letters: Letters, clock: Clock) -> None:
        clock.now_us += 3
        (number,) = letters.add([letter(b"\x00\xff not JSON")])
        time = us_text(START_US + 3)
        expected = DeadLetter(number, "acme", "append", "data.seq: not a number", time, b"\x00\xff not JSON")
        assert letters.get(number) == expected
        assert letters.list(0, 10) == [expected]

    def test_a_letter_may_say_no_namespace(self, letters: Letters) -> None:
        (number,) = letters.add([letter(namespace=None)])
        (kept,) = letters.list(0, 10)
        assert (kept.id, kept.namespace) == (number, None)

    def test_letters_have_rising_ids_from_1(self, letters: Letters) -> None:
        assert letters.add([letter(), letter()]) + letters.add([letter()]) == [1, 2, 3]
        assert letters.add([]) == []

    def test_a_list_goes_on_from_an_id_and_holds_no_more_than_its_limit(self, letters: Letters) -> None:
        letters.add([letter(str(number).encode()) for number in range(6)])
        assert [kept.payload for kept in letters.list(2, 3)] == [b"2", b"3", b"4"]
        assert letters.list(6, 3) == letters.list(0, 0) == []

    def test_a_list_stops_early_at_its_bound_of_bytes(self, letters: Letters) -> None:
        letters.add([letter(b" " * (READ_BYTES_MAX // 2))] * 3)
        assert [kept.id for kept in letters.list(0, 10)] == [1, 2]

    def test_a_letter_of_the_same_key_is_not_added_again(self, letters: Letters) -> None:
        assert letters.add([letter(b"1", key="extract:7"), letter(b"2", key="extract:8")]) == [1, 2]
        assert letters.add([letter(b"3", key="extract:8"), letter(b"4"), letter(b"5", key="extract:7")]) == [2, 3, 1]
        assert [kept.payload for kept in letters.list(0, 10)] == [b"1", b"2", b"4"]

    def test_what_was_replayed_stays_and_says_so(self, letters: Letters) -> None:
        first, second = letters.add([letter(), letter()])
        assert letters.mark_replayed(second)
        assert letters.mark_replayed(second)
        assert [(kept.id, kept.replayed) for kept in letters.list(0, 10)] == [(first, False), (second, True)]

    def test_a_letter_that_is_not_there_is_none(self, letters: Letters) -> None:
        assert letters.get(1) is None
        assert not letters.mark_replayed(1)
        letters.add([letter()])
        assert letters.get(0) is letters.get(2) is letters.get(-1) is None
