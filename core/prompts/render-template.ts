import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import type { CollectedPartials, PartialSet } from './collect-partials.ts';
import type { TemplatePartial } from './compile-template.ts';
import { type Context, escapeForString, valueText } from './json-context.ts';
import { lookUp, missing, type Scope } from './look-up.ts';
import type { MessageNode, PartialTag, SectionTag, Segment, Template } from './template.ts';
import { TemplateError } from './template-error.ts';

export interface RenderOptions {
  readonly variables: JsonObject;
  /** The partials of the template, all of which were found before. */
  readonly partials: Pick<CollectedPartials, 'named' | 'byVariables'>;
  /** Maximum length of the result, in bytes. */
  readonly bytesMax: number;
  /** True: a value that no variable has is an error. False: it is empty. */
  readonly isStrict: boolean;
}

/** Bounds on the work of one rendering: steps (tags, parts of their names, and items of sections), and partials inside partials. */
const stepsMax = 400_000;
const depthMax = 30;
/** Characters of a partial that take one step in each place that includes it, because each place compiles it. */
const charactersPerStep = 4;

/**
 * Renders a template in one pass: a value is never read as template, and is escaped once for its place in JSON. Throws GatewayError: 400
 * if variables are missing in strict mode or the bounds are exceeded, 413 if the result is too long.
 */
export function renderTemplate(template: Template, options: RenderOptions): string {
  const run = new Run(options, options.bytesMax);
  const text = run.text(template.segments);
  run.checkMissing();
  // A UTF-16 code unit takes at most three bytes.
  if (text.length * 3 > options.bytesMax && Buffer.byteLength(text) > options.bytesMax) throw tooLong(options.bytesMax);
  return text;
}

/**
 * Renders the messages of a template to the values that the JSON of `renderTemplate` has, without writing and reading it. Throws as
 * `renderTemplate` does. Returns null if the template has no such messages, or if their JSON might be too long.
 */
export function renderMessages({ messages }: Template, options: RenderOptions): unknown[] | null {
  // JSON writes a UTF-16 code unit with at most six bytes.
  const lengthMax = options.bytesMax / 6 - (messages?.length ?? 0);
  if (messages === null || lengthMax < 0) return null;
  const run = new Run(options, lengthMax);
  try {
    const values = messages.items.map((message) => rendered(message, run));
    run.checkMissing();
    return values;
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'body_too_large') return null;
    throw error;
  }
}

function rendered(node: MessageNode, run: Run): unknown {
  if (typeof node !== 'object' || node === null) return node;
  if (node.type === 'text') return run.text(node.segments);
  if (node.type === 'list') return node.items.map((item) => rendered(item, run));
  const value: Record<string, unknown> = { ...node.shape };
  for (const [key, member] of node.computed) value[key] = rendered(member, run);
  return value;
}

/** Renders the texts of one prompt. */
class Run {
  readonly #options: RenderOptions;
  readonly #missing = new Set<string>();
  readonly #escaped = new Map<string, string>();
  /** The partials of this rendering as each place needs them. Partials themselves keep few places. */
  readonly #places = new Map<TemplatePartial, Map<string, readonly Segment[]>>();
  /** The partials that the text being rendered can name. */
  #partials: PartialSet;
  #text = '';
  /** Maximum length of the texts that are still to be rendered, in UTF-16 code units. */
  #lengthLeft: number;
  #steps = 0;
  #depth = 0;

  constructor(options: RenderOptions, lengthMax: number) {
    this.#options = options;
    this.#partials = options.partials.named;
    this.#lengthLeft = lengthMax;
  }

  checkMissing(): void {
    if (this.#missing.size === 0) return;
    const names = [...this.#missing].join(', ');
    throw new GatewayError('bad_request', { message: `variables: missing ${names}`, param: 'variables' });
  }

  text(segments: readonly Segment[]): string {
    this.#text = '';
    this.#segments(segments, { view: this.#options.variables, parent: null });
    this.#lengthLeft -= this.#text.length;
    return this.#text;
  }

  #segments(segments: readonly Segment[], scope: Scope): void {
    for (const segment of segments) {
      if (typeof segment === 'string') this.#text += segment;
      else {
        // Each scope is searched for each part of a name.
        this.#step(segment.type === 'partial' ? 1 : segment.path.length);
        if (segment.type === 'value') {
          const value = lookUp(scope, segment.path);
          if (value !== missing) this.#text += this.#textOf(value, segment.context);
          else if (this.#options.isStrict) this.#missing.add(segment.path.join('.'));
        } else if (segment.type === 'section') this.#section(segment, scope);
        else this.#partial(segment, scope);
        if (this.#text.length > this.#lengthLeft) throw tooLong(this.#options.bytesMax);
      }
    }
  }

  /** Texts are often inserted several times, and escaping them is the largest part of a rendering. */
  #textOf(value: unknown, context: Context): string {
    if (typeof value !== 'string' || context !== 'string') return valueText(value, context);
    let text = this.#escaped.get(value);
    if (text === undefined) {
      text = escapeForString(value);
      this.#escaped.set(value, text);
    }
    return text;
  }

  #section({ path, isInverted, body }: SectionTag, scope: Scope): void {
    const found = lookUp(scope, path);
    const value = found === missing ? undefined : found;
    const isEmpty = !value || (Array.isArray(value) && value.length === 0);
    if (isInverted) {
      if (isEmpty) this.#segments(body, scope);
      return;
    }
    if (isEmpty) return;
    if (!Array.isArray(value)) return this.#segments(body, value === true ? scope : { view: value, parent: scope });
    for (const item of value) {
      // A body without tags takes no step itself, and its text is not measured.
      this.#step(1);
      this.#segments(body, { view: item, parent: scope });
      if (this.#text.length > this.#lengthLeft) throw tooLong(this.#options.bytesMax);
    }
  }

  #step(count: number): void {
    this.#steps += count;
    if (this.#steps > stepsMax) throw promptError(`the prompt takes more than ${stepsMax} steps to render`);
  }

  #partial(tag: PartialTag, scope: Scope): void {
    if (this.#depth === depthMax) throw promptError(`more than ${depthMax} partials inside each other`);
    const reference = tag.isVariable ? String(this.#options.variables[tag.reference]) : tag.reference;
    const outer = this.#partials;
    const found = (tag.isVariable ? this.#options.partials.byVariables : outer).get(reference);
    if (found === undefined) throw new GatewayError('internal', { detail: `partial ${reference} was not read before` });
    this.#depth += 1;
    this.#partials = found.inside;
    this.#segments(this.#segmentsOf(found.partial, reference, tag), scope);
    this.#partials = outer;
    this.#depth -= 1;
  }

  #segmentsOf(partial: TemplatePartial, reference: string, tag: PartialTag): readonly Segment[] {
    const places = this.#places.get(partial) ?? new Map<string, readonly Segment[]>();
    this.#places.set(partial, places);
    const place = `${tag.context}${tag.indentation}`;
    let segments = places.get(place);
    if (segments === undefined) {
      this.#step(Math.ceil(partial.lengthIn(tag.indentation) / charactersPerStep));
      segments = segmentsOf(partial, reference, tag);
      places.set(place, segments);
    }
    return segments;
  }
}

function segmentsOf(partial: TemplatePartial, reference: string, { context, indentation }: PartialTag): readonly Segment[] {
  try {
    return partial.segments(context, indentation);
  } catch (error) {
    if (error instanceof TemplateError) throw promptError(`partial ${reference}: ${error.message}`);
    throw error;
  }
}

function promptError(message: string): GatewayError {
  return new GatewayError('bad_request', { message });
}

function tooLong(bytesMax: number): GatewayError {
  return new GatewayError('body_too_large', { message: `The rendered prompt has more than ${bytesMax} bytes` });
}
