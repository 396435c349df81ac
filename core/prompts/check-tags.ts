import { TemplateError } from './template-error.ts';

/** Maximum length of a template. The parser allocates one token per character. */
const charsMax = 500_000;
/** Maximum white space in a row inside a tag. The parser's search for the end of a tag is quadratic in it. */
const whiteSpaceMax = 100;
const longWhiteSpace = new RegExp(`\\s{${whiteSpaceMax + 1}}`);

/**
 * Checks the length of a template and that its tags end, before the parser reads it, so that no text takes the parser more than linear
 * time. Throws TemplateError.
 */
export function checkTags(text: string): void {
  if (text.length > charsMax) {
    throw new TemplateError(`the template has more than ${charsMax} characters`, text, charsMax);
  }
  let [open, close] = ['{{', '}}'];
  for (let start = text.indexOf(open); start !== -1; ) {
    const kindAt = skipWhiteSpace(text, start + open.length);
    const kind = text[kindAt];
    const ends = kind === '=' ? ['=', close] : kind === '{' ? [`}${close}`] : [close];
    let at = kind === '=' || kind === '{' ? kindAt + 1 : kindAt;
    for (const end of ends) {
      const found = text.indexOf(end, at);
      if (found === -1) throw new TemplateError(`the tag is not closed by ${end}`, text, start);
      at = found + end.length;
    }
    const tag = text.slice(start, at);
    if (longWhiteSpace.test(tag)) {
      throw new TemplateError(`the tag has more than ${whiteSpaceMax} white-space characters in a row`, text, start);
    }
    if (kind === '=') [open, close] = delimitersOf(tag.slice(kindAt + 1 - start), text, start);
    start = text.indexOf(open, at);
  }
}

function skipWhiteSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && at - from <= whiteSpaceMax && /\s/.test(text[at] as string)) at += 1;
  return at;
}

/** Reads `<% %>=…`, the rest of a tag that sets delimiters. */
function delimitersOf(rest: string, text: string, start: number): [string, string] {
  const [open, close, ...others] = rest.slice(0, rest.indexOf('=')).trim().split(/\s+/);
  if (!open || !close || others.length > 0) {
    throw new TemplateError('expected two delimiters, such as {{=<% %>=}}', text, start);
  }
  return [open, close];
}
