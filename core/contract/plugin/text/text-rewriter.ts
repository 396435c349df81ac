/** Rewrites one text of a reply: the text of one choice, content block or output part. */
export interface TextRewriter {
  /** Takes the next piece and returns the text to send now. It may hold back an end that is not decided yet, and return ''. */
  next(piece: string): string;
  /** Returns the text that is still held. Called once, when the text is complete; not for a stream that is cut. */
  end(): string;
}

/** Formats of replies that hold text of a model. */
export type TextFormat = 'chat' | 'messages' | 'responses';

/** Rewrites one whole text. */
export function rewriteWhole(rewriter: TextRewriter, text: string): string {
  return rewriter.next(text) + rewriter.end();
}
