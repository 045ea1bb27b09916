//! Vertices over time: a mesh that is animated.

use glam::DVec3;
use meniscus_geometry::TriangleMesh;

/// Vertices of a mesh over time, with triangles that stay the same.
pub trait Vertices: Send + Sync {
    /// Corners of the triangles, counter-clockwise seen from outside.
    fn triangles(&self) -> &[[u32; 3]];

    /// Where the vertices are at a time \[s\], in \[m\]; always the same number of them.
    fn positions(&self, time: f64, positions: &mut Vec<DVec3>);
}

/// Where all vertices of a mesh are at some times; between them they go straight. The triangles stay.
#[derive(Debug, Clone, PartialEq)]
pub struct Frames {
    times: Vec<f64>,
    positions: Vec<Vec<DVec3>>,
    period: Option<f64>,
}

/// Frames that cannot be meant.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FramesError {
    /// Nothing to show.
    #[error("an animation needs at least one frame")]
    Empty,
    /// As many times as frames are needed.
    #[error("there are {times} times for {frames} frames")]
    Times {
        /// Times given.
        times: usize,
        /// Frames given.
        frames: usize,
    },
    /// Times must grow.
    #[error("frame {0}: times must be finite and grow from frame to frame")]
    Order(usize),
    /// A vertex appeared or vanished.
    #[error("frame {frame} has {given} vertices, not {expected}: the vertices of an animated mesh must stay the same")]
    Vertices {
        /// Number of the frame.
        frame: usize,
        /// Vertices that it has.
        given: usize,
        /// Vertices that it should have.
        expected: usize,
    },
    /// A coordinate is no number.
    #[error("frame {0}: a coordinate is not finite")]
    NotFinite(usize),
    /// The first frame must come again after the last.
    #[error("a period of {period} s is too short: the frames take {length} s")]
    Period {
        /// As given \[s\].
        period: f64,
        /// From the first frame to the last \[s\].
        length: f64,
    },
}

impl Frames {
    /// Positions \[m\] of all vertices at growing times \[s\]. With a period \[s\], longer than from the first frame to the last, all
    /// comes again, and the last frame goes over into the first; else the mesh rests before the first frame and after the last.
    ///
    /// # Errors
    /// When the frames do not belong together.
    pub fn new(times: Vec<f64>, positions: Vec<Vec<DVec3>>, period: Option<f64>) -> Result<Self, FramesError> {
        let (Some(first), Some(start), Some(end)) = (positions.first(), times.first(), times.last()) else {
            return Err(FramesError::Empty);
        };
        if times.len() != positions.len() {
            return Err(FramesError::Times { times: times.len(), frames: positions.len() });
        }
        let grows = |k: usize| times[k].is_finite() && (k == 0 || times[k] > times[k - 1]);
        if let Some(k) = (0..times.len()).find(|&k| !grows(k)) {
            return Err(FramesError::Order(k));
        }
        let expected = first.len();
        for (frame, vertices) in positions.iter().enumerate() {
            if vertices.len() != expected {
                return Err(FramesError::Vertices { frame, given: vertices.len(), expected });
            }
            if !vertices.iter().all(|x| x.is_finite()) {
                return Err(FramesError::NotFinite(frame));
            }
        }
        let length = end - start;
        match period {
            Some(period) if !(period > length && period.is_finite()) => Err(FramesError::Period { period, length }),
            _ => Ok(Self { times, positions, period }),
        }
    }

    /// The vertices of a mesh, moved by a function of where they are \[m\] and of the time \[s\], at growing times \[s\].
    ///
    /// # Errors
    /// When times or positions cannot be meant.
    pub fn sampled(
        mesh: &TriangleMesh,
        times: Vec<f64>,
        period: Option<f64>,
        moved: impl Fn(DVec3, f64) -> DVec3,
    ) -> Result<Self, FramesError> {
        let at = |&time: &f64| mesh.vertices().iter().map(|&vertex| moved(vertex, time)).collect();
        let positions = times.iter().map(at).collect();
        Self::new(times, positions, period)
    }

    /// Number of vertices.
    #[must_use]
    pub fn vertices(&self) -> usize {
        self.positions[0].len()
    }

    /// Whether these are frames of a mesh.
    ///
    /// # Errors
    /// When it has another number of vertices.
    pub fn fit(&self, mesh: &TriangleMesh) -> Result<(), FramesError> {
        let (given, expected) = (self.vertices(), mesh.vertices().len());
        if given == expected { Ok(()) } else { Err(FramesError::Vertices { frame: 0, given, expected }) }
    }

    /// Where the vertices are at a time \[s\]: replaces what is in `positions` \[m\].
    pub fn at(&self, time: f64, positions: &mut Vec<DVec3>) {
        let (from, to, part) = self.between(time);
        let (from, to) = (&self.positions[from], &self.positions[to]);
        positions.clear();
        positions.extend(from.iter().zip(to).map(|(a, b)| *a + (*b - *a) * part));
    }

    /// The frames around a time and the part of the way from one to the other.
    fn between(&self, time: f64) -> (usize, usize, f64) {
        let (first, last) = (self.times[0], self.times.len() - 1);
        let time = match self.period {
            Some(period) => first + (time - first).rem_euclid(period),
            None => time,
        };
        let next = self.times.partition_point(|&t| t <= time);
        let part = |from: f64, to: f64| (time - from) / (to - from);
        match (next.checked_sub(1), self.period) {
            (None, _) => (0, 0, 0.0),
            (Some(before), _) if next <= last => (before, next, part(self.times[before], self.times[next])),
            (Some(before), Some(period)) => (before, 0, part(self.times[before], first + period)),
            (Some(before), None) => (before, before, 0.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(xs: &[f64]) -> Vec<Vec<DVec3>> {
        xs.iter().map(|x| vec![DVec3::X * *x, DVec3::new(*x, 1.0, 2.0 * *x)]).collect()
    }

    fn x(frames: &Frames, time: f64) -> f64 {
        let mut positions = vec![DVec3::NAN; 7];
        frames.at(time, &mut positions);
        assert_eq!(positions.len(), 2);
        assert!((positions[1] - DVec3::new(positions[0].x, 1.0, 2.0 * positions[0].x)).length() < 1e-14);
        positions[0].x
    }

    #[test]
    fn vertices_go_straight_from_frame_to_frame() {
        let frames = Frames::new(vec![1.0, 2.0, 4.0], line(&[0.0, 1.0, -1.0]), None).unwrap();
        for (time, expected) in [(0.0, 0.0), (1.0, 0.0), (1.5, 0.5), (2.0, 1.0), (3.0, 0.0), (4.0, -1.0), (9.0, -1.0)] {
            assert!((x(&frames, time) - expected).abs() < 1e-14, "{time}");
        }
        let single = Frames::new(vec![0.0], line(&[3.0]), None).unwrap();
        assert!(x(&single, -1.0) == 3.0 && x(&single, 5.0) == 3.0);
    }

    #[test]
    fn a_loop_goes_on_without_a_jump() {
        let frames = Frames::new(vec![1.0, 2.0, 4.0], line(&[0.0, 1.0, -1.0]), Some(4.0)).unwrap();
        for (time, expected) in
            [(1.0, 0.0), (4.5, -0.5), (5.0, 0.0), (5.5, 0.5), (0.5, -0.5), (-2.0, 1.0), (401.5, 0.5)]
        {
            assert!((x(&frames, time) - expected).abs() < 1e-12, "{time}: {}", x(&frames, time));
        }
        let near = |t: f64| (x(&frames, t + 1e-9) - x(&frames, t - 1e-9)).abs();
        assert!((0..100).all(|k| near(0.1 * f64::from(k)) < 1e-8));
    }

    #[test]
    fn frames_that_do_not_belong_together_are_refused() {
        let new = |times: &[f64], xs: &[f64], period| Frames::new(times.to_vec(), line(xs), period).unwrap_err();
        assert_eq!(new(&[], &[], None), FramesError::Empty);
        assert_eq!(new(&[0.0], &[0.0, 1.0], None), FramesError::Times { times: 1, frames: 2 });
        assert_eq!(new(&[0.0, 0.0], &[0.0, 1.0], None), FramesError::Order(1));
        assert_eq!(new(&[0.0, f64::NAN], &[0.0, 1.0], None), FramesError::Order(1));
        assert_eq!(new(&[0.0, 1.0], &[0.0, f64::INFINITY], None), FramesError::NotFinite(1));
        assert_eq!(new(&[0.0, 1.0], &[0.0, 1.0], Some(1.0)), FramesError::Period { period: 1.0, length: 1.0 });
        let mut uneven = line(&[0.0, 1.0]);
        uneven[1].pop();
        let expected = FramesError::Vertices { frame: 1, given: 1, expected: 2 };
        assert_eq!(Frames::new(vec![0.0, 1.0], uneven, None).unwrap_err(), expected);
    }
}
