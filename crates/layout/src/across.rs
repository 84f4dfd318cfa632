//! Layout from left to right: that from top to bottom with both axes exchanged.

use crate::graph::{Graph, Layout, LayoutError, Node, Piece, Point, Route, Spacing};

/// Lays a graph out from left to right; [`Position::Top`](crate::Position::Top) is the left side.
/// The inset of a node is a part of its height. Loops are below their node.
///
/// # Errors
/// As [`layout`](crate::layout).
pub fn layout_across(graph: &Graph, spacing: &Spacing) -> Result<Layout, LayoutError> {
    let mut turned = graph.clone();
    for Node { width, height, .. } in &mut turned.nodes {
        std::mem::swap(width, height);
    }
    for edge in &mut turned.edges {
        edge.label = edge.label.map(|(width, height)| (height, width));
    }
    let found = crate::layout(&turned, spacing)?;
    Ok(Layout {
        width: found.height,
        height: found.width,
        nodes: found.nodes.into_iter().map(point).collect(),
        edges: found.edges.into_iter().map(route).collect(),
    })
}

fn point(at: Point) -> Point {
    Point { x: at.y, y: at.x }
}

fn route(of: Route) -> Route {
    let piece = |piece: Piece| match piece {
        Piece::Line(end) => Piece::Line(point(end)),
        Piece::Curve(a, b, end) => Piece::Curve(point(a), point(b), point(end)),
    };
    Route {
        start: point(of.start),
        pieces: of.pieces.into_iter().map(piece).collect(),
        label: of.label.map(point),
        against_flow: of.against_flow,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Edge;

    #[test]
    fn an_edge_leads_from_the_right_border_to_the_left_border_of_the_next_node() {
        let node = Node { width: 80.0, height: 30.0, ..Node::default() };
        let edge = Edge { from: 0, to: 1, weight: 1, label: Some((50.0, 18.0)), ..Edge::default() };
        let graph = Graph { nodes: vec![node.clone(), node], edges: vec![edge] };
        let found = layout_across(&graph, &Spacing::default()).expect("two nodes");
        let [a, b] = found.nodes[..] else { unreachable!("two nodes") };
        assert_eq!((found.edges[0].start.x, found.edges[0].end().x), (a.x + 40.0, b.x - 40.0));
        let label = found.edges[0].label.expect("it has one");
        assert!(a.x + 40.0 + 25.0 <= label.x && label.x + 25.0 <= b.x - 40.0, "{found:?}");
        assert!(found.width >= 80.0 + 50.0 + 80.0 && found.height < 60.0, "{found:?}");
    }
}
