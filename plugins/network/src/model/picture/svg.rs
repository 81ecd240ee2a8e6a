//! The picture as SVG. The rule: no scripts, no styles, no fonts, no references; all text is escaped, and the size is bounded by the
//! number of nodes and edges.

use super::{
    graph::{Arc, Graph, Node, Party},
    label::{label, width},
    layout::{Area, Point, layout},
};
use crate::model::Kind;
use plugin_api::format::xml_escaped;
use std::fmt::Write as _;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 800.0;
const AREA: Area = Area { left: 60.0, top: 105.0, right: 940.0, bottom: 710.0 };
const LABELS_MAX: usize = 80;
/// Agents whose names are drawn also over nodes.
const LABELS_OVER_NODES: usize = 20;
const TEXT: &str = "#1d2733";
const FAINT: &str = "#5d6b7a";
const ACTIVE: &str = "#16875f";
const INACTIVE: &str = "#8b97a5";
const CLIENT: &str = "#ffffff";
const HIRE: &str = "#2f6db5";
const X402: &str = "#d97f12";

/// Draws a graph.
pub fn render(graph: &Graph, network: &str) -> String {
    let ends: Vec<(usize, usize)> = graph.arcs.iter().map(|arc| (arc.from, arc.to)).collect();
    let points = layout(graph.nodes.len(), &ends, AREA);
    let mut svg = String::new();
    // Writing to a text does not fail.
    let _ = write_all(&mut svg, graph, &points, network);
    svg
}

fn write_all(svg: &mut String, graph: &Graph, points: &[Point], network: &str) -> std::fmt::Result {
    let agents = graph.nodes.iter().filter(|node| matches!(node.party, Party::Agent(_))).count();
    let (edges, clients) = (graph.arcs.len(), graph.nodes.len() - agents);
    let network = xml_escaped(&label(network));
    let counts = format!(
        "{}, {}, {} of {} by volume",
        counted(agents, "agent"),
        counted(clients, "other client"),
        counted(edges, "edge"),
        graph.total
    );
    write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" \
         aria-label=\"{network}: who hired and paid whom. {counts}\" font-family=\"system-ui, sans-serif\" font-size=\"11\">\
         <title>{network}: who hired and paid whom. {counts}</title>\
         <rect x=\"0.5\" y=\"0.5\" width=\"999\" height=\"799\" rx=\"10\" fill=\"#fbfcfd\" stroke=\"#d8dee6\"/>\
         <text x=\"28\" y=\"42\" font-size=\"20\" font-weight=\"600\" fill=\"{TEXT}\">{network}: who hired and paid whom</text>\
         <text x=\"28\" y=\"64\" font-size=\"13\" fill=\"{FAINT}\">{counts}</text>"
    )?;
    if graph.nodes.is_empty() {
        write!(
            svg,
            "<text x=\"500\" y=\"400\" font-size=\"15\" text-anchor=\"middle\" fill=\"{FAINT}\">Nobody has hired or paid an agent yet</text>"
        )?;
    }
    let bits_max = graph.arcs.iter().map(bits).fold(0.0, f64::max);
    // The largest are drawn last, on top.
    for arc in graph.arcs.iter().rev() {
        if let (Some(from), Some(to), Some(node)) = (points.get(arc.from), points.get(arc.to), graph.nodes.get(arc.to))
        {
            write_arc(svg, arc, (*from, *to), radius(node, graph.nodes.len()), bits_max - bits(arc))?;
        }
    }
    for (node, point) in graph.nodes.iter().zip(points).rev() {
        write_node(svg, node, *point, radius(node, graph.nodes.len()))?;
    }
    write_labels(svg, graph, points)?;
    write_legend(svg)?;
    svg.push_str("</svg>\n");
    Ok(())
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How many binary digits the volume has.
fn bits(arc: &Arc) -> f64 {
    arc.volume.0.bit_len() as f64
}

/// Of a node among so many.
fn radius(node: &Node, nodes: usize) -> f64 {
    let shrunk = (120.0 / nodes.max(1) as f64).sqrt().clamp(0.6, 1.0);
    match node.party {
        Party::Client(_) => 3.2,
        Party::Agent(_) => (4.5 + 1.9 * (node.hired_by as f64).sqrt()).min(17.0) * shrunk,
    }
}

/// A wedge, broad at the payer and pointed at the agent. `smaller` counts the halvings of the volume from the largest one.
fn write_arc(svg: &mut String, arc: &Arc, (from, to): (Point, Point), reach: f64, smaller: f64) -> std::fmt::Result {
    let (colour, side) = match arc.kind {
        Kind::Hire => (HIRE, 0.0),
        Kind::X402 => (X402, 2.5),
    };
    let half = (4.0 - 0.25 * smaller).max(1.1);
    if arc.from == arc.to {
        return write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"{:.1}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{:.1}\" opacity=\"0.55\"/>",
            from.x,
            from.y,
            reach + 2.5 + side,
            half.min(2.0)
        );
    }
    let (x, y) = (to.x - from.x, to.y - from.y);
    let length = (x * x + y * y).sqrt().max(0.1);
    let (x, y) = (x / length, y / length);
    // Across the wedge; vouchers stand beside the jobs of the same two.
    let at =
        |along: f64, across: f64| (from.x + x * along - y * (across + side), from.y + y * along + x * (across + side));
    let ((ax, ay), (bx, by), (cx, cy)) = (at(0.0, half), at(length - reach, 0.0), at(0.0, -half));
    write!(svg, "<path d=\"M{ax:.1} {ay:.1}L{bx:.1} {by:.1}L{cx:.1} {cy:.1}Z\" fill=\"{colour}\" opacity=\"0.42\"/>")
}

fn write_node(svg: &mut String, node: &Node, at: Point, radius: f64) -> std::fmt::Result {
    let (fill, stroke) = match node.party {
        Party::Client(_) => (CLIENT, FAINT),
        Party::Agent(_) if node.is_active => (ACTIVE, "#ffffff"),
        Party::Agent(_) => (INACTIVE, "#ffffff"),
    };
    let (x, y, name) = (at.x, at.y, xml_escaped(&drawn_name(node)));
    write!(
        svg,
        "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius:.1}\" fill=\"{fill}\" stroke=\"{stroke}\" stroke-width=\"1.2\"><title>"
    )?;
    match node.party {
        Party::Client(_) => write!(svg, "{name}: edges to {}", counted(node.hired, "agent"))?,
        Party::Agent(id) => {
            write!(svg, "{name} (agent {id}): {} in, {} out", counted(node.hired_by, "edge"), node.hired)?;
        }
    }
    svg.push_str("</title></circle>");
    Ok(())
}

fn drawn_name(node: &Node) -> String {
    match node.party {
        Party::Client(_) => node.name.clone(),
        Party::Agent(id) => Some(label(&node.name)).filter(|name| !name.is_empty()).unwrap_or_else(|| format!("#{id}")),
    }
}

/// Where a label is drawn: its box, and its beginning on the line.
#[derive(Clone, Copy)]
struct LabelPosition {
    area: Area,
    x: f64,
    y: f64,
}

impl LabelPosition {
    fn new(x: f64, y: f64, width: f64) -> Self {
        Self { area: Area { left: x - 1.0, top: y - 10.0, right: x + width + 1.0, bottom: y + 4.0 }, x, y }
    }

    fn is_free(&self, taken: &[Area]) -> bool {
        let Area { left, top, right, bottom } = self.area;
        let is_inside = left > 8.0 && right < WIDTH - 8.0 && top > 74.0 && bottom < HEIGHT - 52.0;
        is_inside
            && !taken
                .iter()
                .any(|other| left < other.right && right > other.left && top < other.bottom && bottom > other.top)
    }
}

/// Names of agents, those with the most edges first, where there is room.
fn write_labels(svg: &mut String, graph: &Graph, points: &[Point]) -> std::fmt::Result {
    let around = |(node, point): (&Node, &Point)| {
        let radius = radius(node, graph.nodes.len());
        Area { left: point.x - radius, top: point.y - radius, right: point.x + radius, bottom: point.y + radius }
    };
    let nodes: Vec<Area> = graph.nodes.iter().zip(points).map(around).collect();
    let mut labels: Vec<Area> = Vec::new();
    let agents = graph.nodes.iter().zip(points).filter(|(node, _)| matches!(node.party, Party::Agent(_)));
    for (number, (node, point)) in agents.take(LABELS_MAX).enumerate() {
        let (name, gap) = (drawn_name(node), radius(node, graph.nodes.len()) + 4.0);
        let width = width(&name);
        let places = [
            (point.x + gap, point.y + 4.0),
            (point.x - gap - width, point.y + 4.0),
            (point.x - width / 2.0, point.y + gap + 9.0),
            (point.x - width / 2.0, point.y - gap),
        ];
        let places = places.map(|(x, y)| LabelPosition::new(x, y, width));
        let mut free = places.into_iter().filter(|place| place.is_free(&labels));
        let (first, clear) = (free.clone().next(), free.find(|place| place.is_free(&nodes)));
        let Some(place) = clear.or(first.filter(|_| number < LABELS_OVER_NODES)) else { continue };
        labels.push(place.area);
        write!(
            svg,
            "<text x=\"{:.1}\" y=\"{:.1}\" fill=\"{TEXT}\" stroke=\"#fbfcfd\" stroke-width=\"3\" stroke-linejoin=\"round\" \
             paint-order=\"stroke\">{}</text>",
            place.x,
            place.y,
            xml_escaped(&name)
        )?;
    }
    Ok(())
}

fn write_legend(svg: &mut String) -> std::fmt::Result {
    write!(
        svg,
        "<g font-size=\"12\" fill=\"{FAINT}\"><path d=\"M28 756H972\" stroke=\"#e3e8ee\"/>\
         <circle cx=\"36\" cy=\"775\" r=\"6\" fill=\"{ACTIVE}\"/><text x=\"48\" y=\"779\">active agent</text>\
         <circle cx=\"142\" cy=\"775\" r=\"6\" fill=\"{INACTIVE}\"/><text x=\"154\" y=\"779\">paused or retired</text>\
         <circle cx=\"276\" cy=\"775\" r=\"4\" fill=\"{CLIENT}\" stroke=\"{FAINT}\"/><text x=\"287\" y=\"779\">client without an agent</text>\
         <path d=\"M440 771L476 775L440 779Z\" fill=\"{HIRE}\" opacity=\"0.7\"/><text x=\"484\" y=\"779\">jobs</text>\
         <path d=\"M528 771L564 775L528 779Z\" fill=\"{X402}\" opacity=\"0.7\"/><text x=\"572\" y=\"779\">x402 payments</text>\
         <text x=\"972\" y=\"779\" text-anchor=\"end\">broad end pays; broader is more</text></g>"
    )
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::{Edge, Ends, Sums};
    use plugin_api::{Address, AgentId, Wei};
    use std::collections::BTreeMap;

    const BYTES_MAX: usize = 1024 * 1024;

    fn address(number: u64) -> Address {
        format!("0x{number:040x}").parse().unwrap()
    }

    fn edge(kind: Kind, from_agent: Option<i64>, to_agent: i64, volume: u64) -> Edge {
        let from = address(from_agent.map_or(volume % 97 + 1000, i64::unsigned_abs));
        let to = address(to_agent.unsigned_abs());
        let ends = Ends { kind, from, from_agent: from_agent.map(AgentId), to, to_agent: AgentId(to_agent) };
        Edge { ends, sums: Sums { jobs: 1, volume: Wei::from(volume), ..Sums::default() } }
    }

    /// A network of so many agents, in which some are hired often.
    fn network(agents: i64, edges: i64, name: impl Fn(i64) -> String) -> Graph {
        let named = (1..=agents).map(|id| (AgentId(id), (name(id), id % 9 != 0))).collect();
        let edges: Vec<Edge> = (0..edges)
            .map(|number| {
                let to = 1 + (number * number * 7 + number) % agents % (1 + (number * 31) % agents);
                let from = (number % 3 > 0).then_some(1 + (number * 17 + 5) % agents);
                let kind = if number % 4 == 0 { Kind::X402 } else { Kind::Hire };
                edge(kind, from, to, 1 << (60 - number * 40 / edges.max(1)))
            })
            .collect();
        Graph::new(&edges, &named, 12_345)
    }

    #[test]
    fn the_largest_picture_is_below_the_bound() {
        let graph = network(5000, 20_000, |_| "\"".repeat(300));
        assert_eq!(graph.nodes.len(), 500);
        let graph = Graph { arcs: graph.arcs.into_iter().take(1000).collect(), ..graph };
        let svg = render(&graph, &"&".repeat(300));
        assert!(svg.len() < BYTES_MAX / 2, "{}", svg.len());
        assert_eq!(render(&graph, &"&".repeat(300)), svg);
    }

    #[test]
    fn names_are_text_and_nothing_else() {
        let names =
            ["</title><script>alert(1)</script>", "\" onload=\"alert(1)", "\u{202e}live\u{0}", "<!--", "", "]]>&amp;"];
        let graph = network(6, 40, |id| names[usize::try_from(id - 1).unwrap()].to_owned());
        let svg = render(&graph, "<b>");
        for part in
            ["<script", "onload=\"", "<!--", "]]>", "\u{202e}", "\u{0}", "<b>", "style", "href", "url(", "<image"]
        {
            assert!(!svg.contains(part), "{part}: {svg}");
        }
        assert!(svg.contains("&lt;/title&gt;&lt;script&gt;alert…") && svg.contains("#5 (agent 5)"), "{svg}");
        // Every element that begins, ends.
        let count = |part: &str| svg.matches(part).count();
        for name in ["title", "text", "g", "svg"] {
            assert_eq!(
                count(&format!("<{name}>")) + count(&format!("<{name} ")),
                count(&format!("</{name}>")),
                "{name}"
            );
        }
    }

    #[test]
    fn a_graph_without_edges_is_a_picture_too() {
        let svg = render(&Graph::new(&[], &BTreeMap::new(), 0), "Service");
        assert!(svg.contains("Nobody has hired or paid an agent yet") && svg.contains("0 agents"), "{svg}");
    }

    #[test]
    fn who_is_left_out_is_not_drawn() {
        let named = BTreeMap::from([(AgentId(1), ("One".to_owned(), true))]);
        let edges = [edge(Kind::Hire, None, 1, 9), edge(Kind::Hire, Some(2), 1, 8), edge(Kind::Hire, Some(1), 1, 7)];
        let graph = Graph::new(&edges, &named, 3);
        assert_eq!((graph.nodes.len(), graph.arcs.len()), (2, 2), "agent 2 is not known");
        let svg = render(&graph, "Service");
        assert!(svg.contains("1 agent, 1 other client, 2 edges of 3 by volume"), "{svg}");
    }
}
