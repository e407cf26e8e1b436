//! Plots as SVG.

use kuva::backend::svg::SvgBackend;
use kuva::plot::{LegendPosition, LinePlot, ScatterPlot};
use kuva::prelude::{Layout, Plot};
use kuva::render::figure::Figure;

/// A line in a plot, or a set of dots.
pub struct Curve {
    /// Name in the legend.
    pub name: String,
    /// Points.
    pub points: Vec<(f64, f64)>,
}

/// A plot.
pub struct Chart {
    /// Title.
    pub title: String,
    /// Label of the abscissa, with unit.
    pub x: String,
    /// Label of the ordinate, with unit.
    pub y: String,
    /// Logarithmic axes.
    pub log: (bool, bool),
    /// Lines.
    pub curves: Vec<Curve>,
}

/// Colours of successive lines: distinct to colour-blind eyes (Okabe–Ito order).
const COLOURS: [&str; 7] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];

/// A chart, and measured points drawn as dots in the colours of the lines of the same number.
pub struct Panel {
    /// The lines.
    pub chart: Chart,
    /// The dots.
    pub dots: Vec<Curve>,
}

impl Panel {
    fn drawn(self) -> (Vec<Plot>, Layout) {
        let Panel { chart, dots } = self;
        let colours = || COLOURS.iter().cycle();
        let lines = chart.curves.into_iter().zip(colours()).enumerate().map(|(k, (curve, colour))| -> Plot {
            let line = LinePlot::new().with_data(curve.points).with_color(*colour);
            let line = line.with_stroke_width(2.0);
            // Colours come again after a round of them, as dashes and then as dots.
            let line = match k / COLOURS.len() {
                0 => line,
                1 => line.with_dashed(),
                _ => line.with_dotted(),
            };
            if curve.name.is_empty() { line.into() } else { line.with_legend(curve.name).into() }
        });
        let dots = dots.into_iter().zip(colours()).filter(|(dots, _)| !dots.points.is_empty());
        let dots = dots.map(|(dots, colour)| -> Plot {
            let plot = ScatterPlot::new().with_data(dots.points).with_color(*colour).with_size(4.0);
            if dots.name.is_empty() { plot.into() } else { plot.with_legend(dots.name).into() }
        });
        let plots: Vec<Plot> = lines.chain(dots).collect();
        let mut layout = Layout::auto_from_plots(&plots)
            .with_title(chart.title)
            .with_x_label(chart.x)
            .with_y_label(chart.y);
        if chart.log.0 {
            layout = layout.with_log_x();
        }
        if chart.log.1 {
            layout = layout.with_log_y();
        }
        (plots, layout)
    }
}

/// One plot.
pub fn svg(chart: Chart) -> String {
    let (plots, layout) = Panel { chart, dots: Vec::new() }.drawn();
    kuva::prelude::render_to_svg(plots, layout)
}

/// Several plots, two beside each other, their ordinates from 0.
pub fn svg_sheet(panels: Vec<Panel>) -> String {
    let columns = panels.len().clamp(1, 2);
    let drawn = |panel: Panel| {
        // Where the lines are not: on the side on which they are low.
        let ends = panel.chart.curves.first().and_then(|c| c.points.first().zip(c.points.last()));
        let legend = match ends.is_some_and(|(first, last)| last.1 < first.1) {
            true => LegendPosition::InsideTopRight,
            false => LegendPosition::InsideTopLeft,
        };
        let (plots, layout) = panel.drawn();
        (plots, layout.with_legend_position(legend).with_y_axis_min(0.0))
    };
    let (plots, layouts): (Vec<Vec<Plot>>, Vec<Layout>) = panels.into_iter().map(drawn).unzip();
    let figure = Figure::new(plots.len().div_ceil(columns), columns)
        .with_cell_size(520.0, 400.0)
        .with_plots(plots)
        .with_layouts(layouts);
    SvgBackend.render_scene(&figure.render())
}
