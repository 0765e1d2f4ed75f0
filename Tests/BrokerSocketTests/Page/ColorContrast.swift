/// The contrast of colors in a page, for inspection scripts (WCAG 2.2, relative luminance).
enum ColorContrast {
    /// Defines `parse(color)`, `ratio(one, other)` and `ground(element)`, the color behind an element.
    static let script = """
        const parse = (colour) => (colour.match(/[\\d.]+/g) || []).map(Number);
        const channel = (value) => {
          const part = value / 255;
          return part <= 0.04045 ? part / 12.92 : Math.pow((part + 0.055) / 1.055, 2.4);
        };
        const light = (c) => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
        const ratio = (one, other) => {
          const [a, b] = [light(one), light(other)].sort((x, y) => y - x);
          return (a + 0.05) / (b + 0.05);
        };
        const ground = (element) => {
          for (let at = element; at; at = at.parentElement) {
            const colour = parse(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
          }
          return [255, 255, 255];
        };
        """
}
