/** Longest URI that is compared with a template. */
const uriLengthMax = 16_384;

/**
 * Steps of the comparison of one URI with all templates of a server. Templates of some hundred expressions take as many steps for each character
 * of the URI. A million takes about ten milliseconds.
 */
const stepsMax = 1_000_000;

/** An expression of RFC 6570: its operator and its variables. */
const expression = /\{([+#./;?&]?)([^{}]*)\}/g;

/** The text that an expression can become: empty, or `lead` and then characters other than `stops`. Reserved ones occur only after `+` and `#`. */
interface Expanded {
  readonly lead: string;
  readonly stops: string;
}

const expanded: Readonly<Record<string, Expanded>> = {
  '': { lead: '', stops: '/?#' },
  '+': { lead: '', stops: '' },
  '#': { lead: '#', stops: '' },
  '.': { lead: '.', stops: '/?#' },
  '/': { lead: '/', stops: '?#' },
  ';': { lead: ';', stops: '/?#' },
  '?': { lead: '?', stops: '#' },
  '&': { lead: '&', stops: '#' },
};

/** A template in parts. An empty list has no expression. */
interface Template {
  /** The text before the first expression. */
  readonly prefix: string;
  readonly parts: readonly (string | Expanded)[];
}

/** True for a URI that begins like the expansions of the template, or is the template itself. The server decides whether it is one. */
export function mayExpand(template: string, uri: string): boolean {
  const at = template.indexOf('{');
  return template === uri || (at > 0 && uri.startsWith(template.slice(0, at)));
}

/** True for a URI that the template can become. */
export function isExpansion(template: string, uri: string): boolean {
  return mayExpand(template, uri) && expansionsOf([template])(uri);
}

/**
 * Returns a function that is true for URIs that any of the templates can become, and for those whose comparison takes more than `stepsMax`.
 * Administrators choose the templates, and servers and clients the URIs, so the time for a template is linear in the length of the URI. Templates
 * are not compiled to expressions, which takes ten times as long as a comparison and 600 bytes for each of their characters.
 */
export function expansionsOf(templates: readonly string[]): (uri: string) => boolean {
  const parsed = templates.map(parse).filter(({ prefix, parts }) => prefix !== '' && parts.length > 0);
  return (uri) => {
    if (uri.length > uriLengthMax) return false;
    const work = { left: stepsMax };
    return parsed.some((one) => uri.startsWith(one.prefix) && canBecome(one, uri, work));
  };
}

function parse(template: string): Template {
  const parts: (string | Expanded)[] = [];
  let end = 0;
  for (const found of template.matchAll(expression)) {
    parts.push(template.slice(end, found.index), expanded[found[1] ?? ''] as Expanded);
    end = found.index + found[0].length;
  }
  if (end === 0) return { prefix: template, parts: [] };
  parts.push(template.slice(end));
  return { prefix: parts[0] as string, parts: parts.slice(1).filter((part) => part !== '') };
}

/** Positions of a URI, from the first to the last one. Lists of ranges are in order and do not touch. */
type Range = readonly [first: number, last: number];

/** Follows the positions up to which the parts so far can reach. Each part is searched for once along the URI. */
function canBecome({ prefix, parts }: Template, uri: string, work: { left: number }): boolean {
  let reached: readonly Range[] = [[prefix.length, prefix.length]];
  for (const part of parts) {
    reached = typeof part === 'string' ? behind(part, uri, reached) : within(part, uri, reached);
    if (reached.length === 0) return false;
    work.left -= reached.length + uri.length / 16;
    if (work.left <= 0) return true;
  }
  return reached.at(-1)?.[1] === uri.length;
}

/** Returns the positions behind a text that begins at one of these. */
function behind(text: string, uri: string, at: readonly Range[]): Range[] {
  const found: Range[] = [];
  let next = -1;
  for (const [first, last] of at) {
    if (next < first) next = uri.indexOf(text, first);
    if (next === -1) break;
    for (; next !== -1 && next <= last; next = uri.indexOf(text, next + 1)) add(found, [next + text.length, next + text.length]);
    if (next === -1) break;
  }
  return found;
}

/** Returns the positions up to which an expression that begins at one of these can reach. */
function within({ lead, stops }: Expanded, uri: string, at: readonly Range[]): Range[] {
  const begins = lead === '' ? at : behind(lead, uri, at);
  const run: Range[] = [];
  for (const [first, last] of begins) {
    let end = Math.max(last, run.at(-1)?.[1] ?? 0);
    // A run that reaches this far has been followed to its end.
    if (end === last) while (end < uri.length && !stops.includes(uri[end] as string)) end++;
    add(run, [first, end]);
  }
  return lead === '' ? run : merged(at, run);
}

function merged(some: readonly Range[], others: readonly Range[]): Range[] {
  const all: Range[] = [];
  for (const one of [...some, ...others].sort((a, b) => a[0] - b[0])) add(all, one);
  return all;
}

/** Adds a range that begins no earlier than the last one. */
function add(list: Range[], [first, last]: Range): void {
  const before = list.at(-1);
  if (before === undefined || first > before[1] + 1) list.push([first, last]);
  else list[list.length - 1] = [before[0], Math.max(before[1], last)];
}
