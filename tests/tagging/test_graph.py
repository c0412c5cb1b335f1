"""The network of tags that occur together: who is near whom, and that it is the same however it is made."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from hippo_async.tagging import Edge, Node, TagCounts, tag_graph

TRAVEL = [["lisbon", "flat", "tom"], ["lisbon", "flat"], ["lisbon", "tram"], ["nuts", "allergy", "tom"]]


def test_tags_are_counted_and_those_that_occur_together_are_tied():
    graph = tag_graph([["lisbon", "flat"], ["lisbon", "flat"], ["lisbon", "tram"], ["rain"]])
    assert graph.nodes == (Node("lisbon", 3), Node("flat", 2), Node("rain", 1), Node("tram", 1))
    assert [(edge.one, edge.other, edge.together) for edge in graph.edges] == [
        ("flat", "lisbon", 2),
        ("lisbon", "tram", 1),
    ]
    assert all(0 < edge.weight < 1 for edge in graph.edges)


def test_neighbours_are_the_most_strongly_tied_the_strongest_first():
    graph = tag_graph(TRAVEL)
    assert graph.neighbours("lisbon") == ("flat", "tram")  # with tom no more often than by chance
    assert graph.neighbours("lisbon", most=1) == ("flat",)
    assert graph.neighbours("lisbon", most=0) == graph.neighbours("lisbon", most=-1) == ()
    assert graph.neighbours("nobody") == ()


def test_a_tag_that_is_on_everything_is_not_everybodys_neighbour():
    notes = [["mel", "pottery", "kiln"], ["mel", "pottery", "kiln"], ["mel", "camping"], ["mel", "running"]]
    assert tag_graph(notes).neighbours("pottery") == ("kiln", "mel")
    assert tag_graph(notes).neighbours("pottery", most=1) == ("kiln",)


def test_what_rests_on_one_record_weighs_less_than_what_recurs():
    once, often = ["a", "b"], ["c", "d"]
    edges = {edge.one: edge.weight for edge in tag_graph([once, *[often] * 5]).edges}
    assert edges["c"] > edges["a"] > 0


def test_one_record_alone_ties_its_tags():
    assert tag_graph([["a", "b"]]).neighbours("a") == ("b",)


def test_tags_that_differ_in_case_are_one():
    graph = tag_graph([["Lisbon", "lisbon", "ＦＬＡＴ"], ["LISBON"]])
    assert graph.nodes == (Node("lisbon", 2), Node("flat", 1))
    assert graph.neighbours("LISBON") == ("flat",)


def test_tags_of_state_take_no_part():
    graph = tag_graph([["status:folded", "Status:Monthly", "Pinned", "tea"], ["status:folded"]])
    assert (graph.nodes, graph.edges) == ((Node("tea", 1),), ())


def test_under_a_cap_each_tag_keeps_its_strongest_edge_as_far_as_there_is_room():
    strong = [["a", "b", "c"]] * 9
    graph = tag_graph([*strong, ["d", "a", "b"], ["e"]], max_edges=3)
    assert len(graph.edges) == 3
    assert {tag for edge in graph.edges for tag in (edge.one, edge.other)} == {"a", "b", "c", "d"}
    assert len(graph.nodes) == 5
    assert tag_graph(strong, max_edges=0).edges == ()


def test_a_record_with_a_thousand_tags_does_not_make_half_a_million_edges():
    graph = tag_graph([[f"tag {number:04}" for number in range(1000)]])
    assert (len(graph.nodes), len(graph.edges)) == (32, 32 * 31 // 2)


def test_the_graph_is_plain_json():
    graph = tag_graph([["a", "b"]])
    assert json.loads(json.dumps(graph.as_dict())) == {
        "nodes": [{"tag": "a", "count": 1}, {"tag": "b", "count": 1}],
        "edges": [{"one": "a", "other": "b", "together": 1, "weight": graph.edges[0].weight}],
    }


def test_nothing_makes_an_empty_graph():
    assert tag_graph([]).as_dict() == tag_graph([[], [""]]).as_dict() == {"nodes": [], "edges": []}


TAGS = st.lists(
    st.sampled_from(["a", "b", "c", "D", "d", "status:x", "é", " f "]) | st.text(max_size=3), max_size=6
)
LISTS = st.lists(TAGS, max_size=25)


@given(LISTS, st.data())
def test_going_on_with_each_record_makes_the_same_graph_as_starting_over(lists, data):
    counts = TagCounts()
    for number, tags in enumerate(lists, start=1):
        counts.add(tags)
        assert counts.graph() == tag_graph(lists[:number])
    assert counts.graph() == tag_graph(data.draw(st.permutations(lists)))


@given(LISTS, st.integers(0, 12))
def test_any_graph_is_capped_ordered_and_symmetrical(lists, max_edges):
    graph = tag_graph(lists, max_edges=max_edges)
    assert len(graph.edges) <= max_edges
    assert list(graph.edges) == sorted(
        graph.edges, key=lambda edge: (-edge.weight, -edge.together, edge.one, edge.other)
    )
    tags = {node.tag for node in graph.nodes}
    for edge in graph.edges:
        assert isinstance(edge, Edge)
        assert edge.one < edge.other
        assert {edge.one, edge.other} <= tags
        assert 0 < edge.weight < 1
        assert edge.other in graph.neighbours(edge.one, most=100)
        assert edge.one in graph.neighbours(edge.other, most=100)
