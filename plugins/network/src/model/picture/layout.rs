//! Where the nodes of a picture stand: forces as Fruchterman and Reingold have them, from places that depend on the order of the nodes
//! alone. The rule: no chance, no clock, and no operation but those that every machine rounds alike, so one graph has one picture.

use std::f64::consts::SQRT_2;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    pub x: f64,
    pub y: f64,
}

impl Point {
    fn plus(self, other: Self, times: f64) -> Self {
        Self { x: self.x + other.x * times, y: self.y + other.y * times }
    }

    fn length(self) -> f64 {
        (self.x * self.x + self.y * self.y).sqrt()
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug)]
pub struct Area {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

/// Comparisons of two nodes: some tenths of a second.
const WORK_MAX: usize = 40_000_000;
/// Draws what is not connected to the middle.
const GRAVITY: f64 = 0.05;
/// Nodes that are farther apart (this is the square) do not push each other, so that parts of the graph that are not connected stay near.
const REACH: f64 = 14.0;
/// Closer nodes push each other as if they were this far apart, so that the force is bounded.
const NEAREST: f64 = 0.05;

/// Places for nodes, of which `edges` connect two each. The first nodes begin in the middle.
pub fn layout(nodes: usize, edges: &[(usize, usize)], area: Area) -> Vec<Point> {
    let mut points = spiral(nodes);
    let rounds = (WORK_MAX / (nodes * nodes).max(1)).clamp(100, 400);
    for round in 0..rounds {
        let heat = (nodes as f64).sqrt() * 0.12 * (1.0 - round as f64 / rounds as f64);
        let forces = forces(&points, edges);
        for (point, force) in points.iter_mut().zip(forces) {
            let length = force.length();
            if length > 0.0 {
                *point = point.plus(force, length.min(heat) / length);
            }
        }
    }
    fit(&mut points, area);
    points
}

/// Points on a spiral: each is turned by the golden angle.
fn spiral(nodes: usize) -> Vec<Point> {
    const COS: f64 = -0.737_368_878_078_319_8;
    const SIN: f64 = 0.675_490_294_261_523_8;
    let mut direction = Point { x: 1.0, y: 0.0 };
    let mut points = Vec::with_capacity(nodes);
    for number in 0..nodes {
        points.push(Point::default().plus(direction, (number as f64 + 0.3).sqrt() / SQRT_2));
        let Point { x, y } = direction;
        direction = Point { x: x * COS - y * SIN, y: x * SIN + y * COS };
    }
    points
}

fn forces(points: &[Point], edges: &[(usize, usize)]) -> Vec<Point> {
    let away = |(number, point): (usize, &Point)| {
        let mut force = Point::default().plus(*point, -GRAVITY);
        for (_, other) in points.iter().enumerate().filter(|(other, _)| *other != number) {
            let distance = point.plus(*other, -1.0);
            let square = distance.x * distance.x + distance.y * distance.y;
            if square < REACH {
                force = force.plus(distance, 1.0 / square.max(NEAREST));
            }
        }
        force
    };
    let mut forces: Vec<Point> = points.iter().enumerate().map(away).collect();
    for (from, to) in edges {
        let (Some(a), Some(b)) = (points.get(*from), points.get(*to)) else { continue };
        let distance = b.plus(*a, -1.0);
        let pull = distance.length();
        if let Some(force) = forces.get_mut(*from) {
            *force = force.plus(distance, pull);
        }
        if let Some(force) = forces.get_mut(*to) {
            *force = force.plus(distance, -pull);
        }
    }
    forces
}

/// Scales to the area; a few nodes are not torn apart.
fn fit(points: &mut [Point], area: Area) {
    const SCALE_MAX: f64 = 90.0;
    let range = |value: fn(&Point) -> f64| {
        let values = points.iter().map(value);
        let (least, most) =
            values.fold((f64::MAX, f64::MIN), |(least, most), value| (least.min(value), most.max(value)));
        (f64::midpoint(least, most), most - least)
    };
    let ((middle_x, width), (middle_y, height)) = (range(|point| point.x), range(|point| point.y));
    let scale = |room: f64, size: f64| if size > 0.0 { (room / size).min(SCALE_MAX) } else { 1.0 };
    let scale_x = scale(area.right - area.left, width);
    let scale_y = scale(area.bottom - area.top, height);
    for point in points {
        point.x = f64::midpoint(area.left, area.right) + (point.x - middle_x) * scale_x;
        point.y = f64::midpoint(area.top, area.bottom) + (point.y - middle_y) * scale_y;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const AREA: Area = Area { left: 10.0, top: 20.0, right: 910.0, bottom: 620.0 };

    fn distance(a: Point, b: Point) -> f64 {
        a.plus(b, -1.0).length()
    }

    #[test]
    fn every_node_has_a_place_of_its_own_in_the_area() {
        // Two stars, a pair, an edge of a node with itself, and nodes without edges.
        let edges: Vec<(usize, usize)> =
            (2..40).map(|leaf| (leaf, leaf % 2)).chain([(41, 42), (43, 43), (44, 999)]).collect();
        let points = layout(50, &edges, AREA);
        assert_eq!(points.len(), 50);
        for (number, point) in points.iter().enumerate() {
            assert!((9.9..=910.1).contains(&point.x) && (19.9..=620.1).contains(&point.y), "{number}: {point:?}");
            let near = points.iter().enumerate().filter(|(other, _)| *other != number);
            let nearest = near.map(|(_, other)| distance(*point, *other)).fold(f64::MAX, f64::min);
            assert!(nearest > 5.0, "{number}: {nearest}");
        }
        // Leaves stand at their own star.
        for leaf in 2..40 {
            let [own, other] = [leaf % 2, 1 - leaf % 2].map(|star| distance(points[leaf], points[star]));
            assert!(own < other, "{leaf}: {own} {other}");
        }
        assert_eq!(layout(50, &edges, AREA), points);
    }

    #[test]
    fn a_graph_of_one_or_none_is_drawn() {
        assert_eq!(layout(0, &[], AREA), []);
        assert_eq!(layout(1, &[(0, 0)], AREA), [Point { x: 460.0, y: 320.0 }]);
        let pair = layout(2, &[(0, 1)], AREA);
        assert!((30.0..200.0).contains(&distance(pair[0], pair[1])), "{pair:?}");
    }
}
