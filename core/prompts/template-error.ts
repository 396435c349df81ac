/** An error in the text of a template, with the place where it begins. Lines and columns count from 1. */
export class TemplateError extends Error {
  readonly line: number;
  readonly column: number;

  /** `reason` is a phrase such as `the section "a" is not closed`. */
  constructor(reason: string, text: string, index: number) {
    const before = text.slice(0, index);
    const line = before.split('\n').length;
    const column = index - before.lastIndexOf('\n');
    super(`line ${line}, column ${column}: ${reason}`);
    this.name = 'TemplateError';
    this.line = line;
    this.column = column;
  }
}
