//! What images, documents and sounds cost, by the providers' formulas.

use longhaul_transcript::{Media, MediaKind, Tokens};

/// A provider's formula for images and documents.
///
/// Where the size of an image is not known, every formula gives the most that one image can cost there; where the pages
/// of a document are not known, they are estimated from its bytes. Both err upwards on purpose: a budget that was
/// planned too small still holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MediaFormula {
    /// OpenAI, high detail: shrunk into 2048 x 2048, then to a short side of 768, then cut into tiles of 512
    /// (OpenAI, "Images and vision", 2025).
    OpenAiTiles {
        /// Tokens of each image.
        base: u32,
        /// Tokens of each tile.
        tile: u32,
    },
    /// OpenAI's small models: patches of 32 x 32, at most 1536 of them, times a factor
    /// (OpenAI, "Images and vision", 2025).
    OpenAiPatches {
        /// The factor in hundredths: 162 is 1.62.
        percent: u32,
    },
    /// Anthropic: shrunk until the long edge fits, then width x height / 750 (Anthropic, "Vision", 2025).
    Anthropic {
        /// The longest edge that is not shrunk, in pixels: 1568, or 2576 since Claude Opus 4.7.
        max_edge: u32,
    },
    /// Gemini 2.x: 258 tokens for an image of at most 384 x 384, else 258 for each tile
    /// (Google, "Understand and count tokens", 2025).
    GeminiTiles,
    /// A fixed price for an image and for a page, as Gemini 3 has it.
    PerImage {
        /// Tokens of each image.
        image: u32,
        /// Tokens of each page of a document.
        page: u32,
    },
    /// Not known: the largest of the formulas above.
    #[default]
    Unknown,
}

/// Tokens of one page of a document that is sent as its text and its picture. Anthropic says 1,500 to 3,000 a page
/// ("PDF support", 2025).
const PAGE: u64 = 3_000;

/// Bytes of document that are taken for a page where the pages are not known: half of the 100 kB of a typical PDF page,
/// so that the estimate is high.
const BYTES_PER_PAGE: u64 = 50_000;

/// Bytes of sound that are taken for a token: 32 tokens a second (Google, 2025) of 32 kbit/s speech.
const AUDIO_BYTES_PER_TOKEN: u64 = 125;

impl MediaFormula {
    /// Returns the tokens of `media`.
    pub fn count(self, media: &Media) -> Tokens {
        Tokens(match media.kind {
            MediaKind::Image => self.image(media.pixels),
            MediaKind::Audio => media.bytes.div_ceil(AUDIO_BYTES_PER_TOKEN).max(1),
            // Documents, and kinds that are yet to come.
            _ => {
                let pages = media.pages.map_or(media.bytes.div_ceil(BYTES_PER_PAGE), u64::from).max(1);
                pages.saturating_mul(self.page())
            }
        })
    }

    fn image(self, pixels: Option<(u32, u32)>) -> u64 {
        // An empty picture is one pixel; no size is the dearest size.
        let dearest = match self {
            MediaFormula::OpenAiTiles { .. } => (2048, 768),
            _ => (1 << 16, 1 << 16),
        };
        let (width, height) = pixels.map_or(dearest, |(w, h)| (w.max(1).into(), h.max(1).into()));
        match self {
            MediaFormula::OpenAiTiles { base, tile } => {
                let (w, h) = shrink_long_edge(width, height, 2048);
                let (w, h) = shrink_short_edge(w, h, 768);
                u64::from(base) + u64::from(tile) * w.div_ceil(512) * h.div_ceil(512)
            }
            MediaFormula::OpenAiPatches { percent } => {
                let patches = width.div_ceil(32).saturating_mul(height.div_ceil(32)).min(1536);
                (patches * u64::from(percent)).div_ceil(100)
            }
            MediaFormula::Anthropic { max_edge } => {
                let (w, h) = shrink_long_edge(width, height, max_edge.into());
                // The longer edge is not the only bound: about 1.15 megapixels at 1568, in proportion above.
                let most = u64::from(max_edge) * u64::from(max_edge) * 48 / 100 / 750 + 1;
                (w * h).div_ceil(750).min(most.max(1))
            }
            MediaFormula::GeminiTiles if width <= 384 && height <= 384 => 258,
            MediaFormula::GeminiTiles => {
                let (w, h) = shrink_long_edge(width, height, 3072);
                let unit = (w.min(h) * 2 / 3).clamp(256, 768);
                258 * w.div_ceil(unit) * h.div_ceil(unit)
            }
            MediaFormula::PerImage { image, .. } => image.into(),
            MediaFormula::Unknown => {
                [MediaFormula::Anthropic { max_edge: 2576 }, MediaFormula::GeminiTiles, OPENAI_TILES]
                    .map(|formula| formula.image(pixels))
                    .into_iter()
                    .fold(0, u64::max)
            }
        }
    }

    fn page(self) -> u64 {
        match self {
            MediaFormula::GeminiTiles => 258,
            MediaFormula::PerImage { page, .. } => page.into(),
            _ => PAGE,
        }
    }
}

/// The tiles of GPT-4o, the dearest of the large models.
pub(crate) const OPENAI_TILES: MediaFormula = MediaFormula::OpenAiTiles { base: 85, tile: 170 };

fn shrink_long_edge(width: u64, height: u64, most: u64) -> (u64, u64) {
    shrink(width, height, width.max(height), most)
}

fn shrink_short_edge(width: u64, height: u64, most: u64) -> (u64, u64) {
    shrink(width, height, width.min(height), most)
}

fn shrink(width: u64, height: u64, edge: u64, most: u64) -> (u64, u64) {
    match edge > most {
        true => ((width * most / edge).max(1), (height * most / edge).max(1)),
        false => (width, height),
    }
}

#[cfg(test)]
mod tests {
    use longhaul_transcript::ContentHash;

    use super::*;

    fn image(pixels: Option<(u32, u32)>) -> Media {
        Media {
            kind: MediaKind::Image,
            media_type: "image/png".into(),
            source: String::new(),
            bytes: 1,
            pixels,
            pages: None,
            hash: ContentHash::of(b""),
        }
    }

    #[test]
    fn openai_examples_of_the_vision_page() {
        // "A 1024 x 1024 square image in high detail costs 765", "2048 x 4096 costs 1105".
        assert_eq!(OPENAI_TILES.count(&image(Some((1024, 1024)))), Tokens(765));
        assert_eq!(OPENAI_TILES.count(&image(Some((2048, 4096)))), Tokens(1105));
        // "1024 x 1024: 1024 patches".
        assert_eq!(
            MediaFormula::OpenAiPatches { percent: 100 }.count(&image(Some((1024, 1024)))),
            Tokens(1024)
        );
    }

    #[test]
    fn anthropic_examples_of_the_vision_page() {
        // "200 x 200: about 54, 1000 x 1000: about 1334, 1092 x 1092: about 1590".
        let claude = MediaFormula::Anthropic { max_edge: 1568 };
        let costs = [200, 1000, 1092].map(|edge| claude.count(&image(Some((edge, edge)))).0);
        assert!(costs[0] == 54 && costs[1] == 1334 && costs[2].abs_diff(1590) < 20, "{costs:?}");
    }

    #[test]
    fn an_image_of_unknown_size_costs_the_most_there_is() {
        for formula in [OPENAI_TILES, MediaFormula::Anthropic { max_edge: 1568 }, MediaFormula::GeminiTiles] {
            let most = formula.count(&image(None));
            for edges in [(1, 1), (640, 480), (1920, 1080), (4000, 4000)] {
                assert!(formula.count(&image(Some(edges))) <= most, "{formula:?} {edges:?}");
                assert!(
                    formula.count(&image(Some(edges))) <= MediaFormula::Unknown.count(&image(Some(edges)))
                );
            }
        }
    }

    #[test]
    fn extreme_sizes_neither_overflow_nor_cost_nothing() {
        for edges in [(0, 0), (1, u32::MAX), (u32::MAX, u32::MAX)] {
            for formula in
                [OPENAI_TILES, MediaFormula::GeminiTiles, MediaFormula::OpenAiPatches { percent: 246 }]
            {
                assert!(
                    (1..100_000).contains(&formula.count(&image(Some(edges))).0),
                    "{formula:?} {edges:?}"
                );
            }
        }
    }

    #[test]
    fn documents_cost_by_page() {
        let document = |pages, bytes| Media { kind: MediaKind::Document, pages, bytes, ..image(None) };
        assert_eq!(MediaFormula::GeminiTiles.count(&document(Some(10), 5)), Tokens(2_580));
        assert_eq!(MediaFormula::Unknown.count(&document(None, 120_000)), Tokens(9_000));
    }
}
