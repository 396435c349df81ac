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
  readonly parts: readonly (Literal | Expanded)[];
}

interface Literal {
  readonly literal: string;
  /** For each beginning of the literal, the length of its longest border: a beginning that is also its end. */
  readonly borders: Uint16Array;
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
  const parts: (Literal | Expanded)[] = [];
  let prefix = template;
  let end = 0;
  const addLiteral = (literal: string): void => {
    if (end === 0) prefix = literal;
    else if (literal !== '') parts.push({ literal, borders: bordersOf(literal) });
  };
  for (const found of template.matchAll(expression)) {
    const [, operator = '', names = ''] = found;
    const expansion = expansions[operator === '' && names.endsWith('*') ? '*' : operator] as Expanded;
    addLiteral(template.slice(end, found.index));
    parts.push(expansion);
    end = found.index + found[0].length;
  }
  addLiteral(template.slice(end));
  return { prefix, parts };
}

function bordersOf(literal: string): Uint16Array {
  const borders = new Uint16Array(literal.length);
  for (let at = 1, border = 0; at < literal.length; at++) {
    while (border > 0 && literal[at] !== literal[border]) border = borders[border - 1] as number;
    if (literal[at] === literal[border]) border++;
    borders[at] = border;
  }
  return borders;
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
    work.left -= reached.length + text.length / 8;
    if (work.left <= 0) return null;
    reached = 'literal' in part ? behind(part, text, reached) : within(part, text, reached);
    if (reached.length === 0) return reached;
  }
  return reached;
}

/**
 * Returns the positions behind a literal that begins at one of these. Knuth, Morris and Pratt's search: `indexOf` takes milliseconds for a literal such
 * as `aaabaaa` in a long text.
 */
function behind({ literal, borders }: Literal, text: string, at: readonly Range[]): Range[] {
  const found: Range[] = [];
  let range = 0;
  let matched = 0;
  for (let end = at[0]?.[0] ?? text.length; end < text.length; end++) {
    if (matched === literal.length) matched = borders[matched - 1] as number;
    while (matched > 0 && text[end] !== literal[matched]) matched = borders[matched - 1] as number;
    if (text[end] === literal[matched]) matched++;
    const begin = end + 1 - matched;
    while ((at[range]?.[1] ?? begin) < begin) range++;
    const among = at[range];
    if (among === undefined) break;
    if (matched === literal.length && among[0] <= begin) add(found, [end + 1, end + 1]);
  }
  return found;
}

/** Returns the positions up to which an expression that begins at one of these can reach. */
function within({ lead, stops }: Expanded, text: string, at: readonly Range[]): Range[] {
  const runs: Range[] = [];
  let end = 0;
  const follow = (first: number, last: number): void => {
    end = last;
    while (end < text.length && !stops.includes(text[end] as string)) end++;
    add(runs, [first, end]);
  };
  for (const [first, last] of at) {
    // A run that reaches this far has been followed to its end. No lead is among its own stops, so a lead in a run adds nothing.
    if (lead === '') follow(first, Math.max(last, end));
    else
      for (let next = Math.max(first, end); next <= last; next = Math.max(next + 1, end))
        if (text[next] === lead) follow(next + 1, next + 1);
  }
  return lead === '' ? runs : merged(at, runs);
}

function merged(some: readonly Range[], others: readonly Range[]): Range[] {
  const all: Range[] = [];
  let next = 0;
  for (const one of some) {
    for (let other = others[next]; other !== undefined && other[0] < one[0]; other = others[++next]) add(all, other);
    add(all, one);
  }
  for (const other of others.slice(next)) add(all, other);
  return all;
}

/** Adds a range that begins no earlier than the last one. */
function add(list: Range[], [first, last]: Range): void {
  const before = list.at(-1);
  if (before === undefined || first > before[1] + 1) list.push([first, last]);
  else list[list.length - 1] = [before[0], Math.max(before[1], last)];
}
