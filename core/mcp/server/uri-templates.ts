import { formsOf } from './uri-forms.ts';

/** Longest URI that is compared with a template. */
const uriLengthMax = 16_384;

/**
 * Steps of the comparison of one URI with all templates of a server. Templates of some hundred expressions take as many steps for each character
 * of the URI. A million takes about ten milliseconds.
 */
const stepsMax = 1_000_000;

/** An expression of RFC 6570: its operator and its variables. */
const expression = /\{([+#./;?&]?)([^{}]*)\}/g;

/** The text that an expression can become: empty, or `lead` and then characters other than `stops`. */
interface Expanded {
  readonly lead: string;
  readonly stops: string;
}

/** Texts that expressions can become, by operator; `*` is an expression with this modifier and without an operator. */
type Expansions = Readonly<Record<string, Expanded>>;

/** Reserved characters occur only after `+` and `#`. FastMCP reads several segments into `{path*}`. */
const expanded: Expansions = {
  '': { lead: '', stops: '/?#' },
  '*': { lead: '', stops: '?#' },
  '+': { lead: '', stops: '' },
  '#': { lead: '#', stops: '' },
  '.': { lead: '.', stops: '/?#' },
  '/': { lead: '/', stops: '?#' },
  ';': { lead: ';', stops: '/?#' },
  '?': { lead: '?', stops: '#' },
  '&': { lead: '&', stops: '#' },
};

/** Texts that servers accept for expressions: values may have `?` and `#` in the SDKs. */
const accepted: Expansions = {
  '': { lead: '', stops: '/' },
  '*': { lead: '', stops: '' },
  '+': { lead: '', stops: '' },
  '#': { lead: '#', stops: '' },
  '.': { lead: '.', stops: '/' },
  '/': { lead: '/', stops: '' },
  ';': { lead: ';', stops: '/' },
  '?': { lead: '?', stops: '' },
  '&': { lead: '&', stops: '' },
};

/**
 * The parts of a template. Templates are not compiled to expressions, which takes ten times as long as a comparison and 600 bytes for each of their
 * characters.
 */
interface Template {
  /** The text before the first expression. */
  readonly prefix: string;
  /** The parts that follow it. An empty list stands for a template without an expression. */
  readonly parts: readonly (string | Expanded)[];
}

/** True for a URI that begins like the expansions of the template, or is the template itself. The server decides whether it is one. */
export function mayExpand(template: string, uri: string): boolean {
  const at = template.indexOf('{');
  return template === uri || (at > 0 && uri.startsWith(template.slice(0, at)));
}

/** True for a URI that the template can become, in every form. False if the comparison takes too long. */
export function isExpansion(template: string, uri: string): boolean {
  if (uri.length > uriLengthMax || !mayExpand(template, uri)) return false;
  const parsed = parse(template, expanded);
  const work = { left: stepsMax };
  if (parsed.parts.length === 0) return false;
  for (const form of formsOf(uri)) if (reachOf(parsed, form, work)?.at(-1)?.[1] !== form.length) return false;
  return true;
}

/**
 * Returns a function that is true for a text that a server may read as an expansion of one of the templates, and for one whose comparison takes too
 * long. Administrators choose the templates, and servers and clients the URIs, so the time for a template is linear in the length of the text.
 */
export function acceptedBy(templates: readonly string[]): (text: string) => boolean {
  const all = templates.map((one) => parse(one, accepted)).filter(({ parts }) => parts.length > 0);
  return (text) => {
    if (text.length > uriLengthMax) return true;
    const work = { left: stepsMax };
    return all.some((one) => {
      const reach = reachOf(one, text, work);
      return reach === null || reach.some((range) => endsIn(text, range));
    });
  };
}

/** True for the end of the text. FastMCP ignores a query and a fragment that a template does not have, so their beginning is one too. */
function endsIn(text: string, [first, last]: Range): boolean {
  if (last === text.length) return true;
  for (let at = first; at <= last; at++) if (text[at] === '?' || text[at] === '#') return true;
  return false;
}

function parse(template: string, expansions: Expansions): Template {
  const parts: (string | Expanded)[] = [];
  let end = 0;
  for (const found of template.matchAll(expression)) {
    const [, operator = '', names = ''] = found;
    const expansion = expansions[operator === '' && names.endsWith('*') ? '*' : operator] as Expanded;
    parts.push(template.slice(end, found.index), expansion);
    end = found.index + found[0].length;
  }
  if (end === 0) return { prefix: template, parts: [] };
  parts.push(template.slice(end));
  return { prefix: parts[0] as string, parts: parts.slice(1).filter((part) => part !== '') };
}

/** Positions of a text, from the first to the last one. Lists of ranges are in order and do not touch. */
type Range = readonly [first: number, last: number];

/**
 * Returns the positions up to which expansions of the template can reach from the beginning of the text; null if this takes more steps than are left.
 * Each part is searched for once along the text.
 */
function reachOf({ prefix, parts }: Template, text: string, work: { left: number }): readonly Range[] | null {
  if (!text.startsWith(prefix)) return [];
  let reached: readonly Range[] = [[prefix.length, prefix.length]];
  for (const part of parts) {
    reached = typeof part === 'string' ? behind(part, text, reached) : within(part, text, reached);
    if (reached.length === 0) return reached;
    work.left -= reached.length + text.length / 16;
    if (work.left <= 0) return null;
  }
  return reached;
}

/** Returns the positions behind a literal part that begins at one of these. */
function behind(part: string, text: string, at: readonly Range[]): Range[] {
  const found: Range[] = [];
  let next = -1;
  for (const [first, last] of at) {
    if (next < first) next = text.indexOf(part, first);
    if (next === -1) break;
    for (; next !== -1 && next <= last; next = text.indexOf(part, next + 1)) add(found, [next + part.length, next + part.length]);
    if (next === -1) break;
  }
  return found;
}

/** Returns the positions up to which an expression that begins at one of these can reach. */
function within({ lead, stops }: Expanded, text: string, at: readonly Range[]): Range[] {
  const begins = lead === '' ? at : behind(lead, text, at);
  const run: Range[] = [];
  for (const [first, last] of begins) {
    let end = Math.max(last, run.at(-1)?.[1] ?? 0);
    // A run that reaches this far has been followed to its end.
    if (end === last) while (end < text.length && !stops.includes(text[end] as string)) end++;
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
