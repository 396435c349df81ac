/** Maximum characters of all citations of one reply. A provider could cite all of a long text in each of many annotations. */
const citedMax = 10_000_000;

/** The text of a reply so far. Its pieces are kept apart, because a citation after each piece would copy a joined text each time. */
export class SpokenText {
  readonly #pieces: string[] = [];
  /** Offsets of the pieces. */
  readonly #starts: number[] = [];
  #cited = 0;
  length = 0;

  push(piece: string): void {
    this.#pieces.push(piece);
    this.#starts.push(this.length);
    this.length += piece.length;
  }

  /** Returns the text between two offsets; '' if the reply has citations of more than 10 million characters. */
  cited(from: number, to: number): string {
    const [start, end] = [Math.max(0, from), Math.min(to, this.length)];
    this.#cited += Math.max(0, end - start);
    if (!(start < end) || this.#cited > citedMax) return '';
    let at = this.#pieceAt(start);
    const first = this.#starts[at] as number;
    let text = '';
    for (; at < this.#pieces.length && (this.#starts[at] as number) < end; at++) text += this.#pieces[at];
    return text.slice(start - first, end - first);
  }

  /** Returns the index of the piece that holds the character at this offset. */
  #pieceAt(offset: number): number {
    let [low, high] = [0, this.#starts.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#starts[middle] as number) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
