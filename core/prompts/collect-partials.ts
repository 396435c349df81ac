import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { DocumentKind } from '../contract/protocol/documents.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import type { JsonObject } from '../contract/values/json/json.ts';
import { isPromise, type Maybe } from '../contract/values/maybe.ts';
import type { TemplatePartial } from './compile-template.ts';
import { type FoundPartial, findPartial, type Home } from './find-prompt.ts';
import type { Template } from './template.ts';
import { partialsOf, variablePartialsOf } from './template-variables.ts';

/** The partials that texts of one workspace name, by reference. */
export interface PartialSet {
  get(reference: string): { readonly partial: TemplatePartial; readonly inside: PartialSet } | undefined;
}

export interface CollectedPartials {
  /** Those that the template names. */
  readonly named: PartialSet;
  /** Those that variables name. The caller chooses them, so they are looked up in the caller's workspace. */
  readonly byVariables: PartialSet;
  /** All partials without repetition. */
  readonly all: readonly TemplatePartial[];
}

/** Maximum number of partials of one prompt. */
const partialsMax = 200;
/** Maximum length of all partials of one prompt together, in characters. Rendering takes no more steps than this. */
const charsMax = 1_600_000;

/**
 * Reads all partials of a template, also those inside of partials. `variables` null: partials named by variables are left out. Throws
 * GatewayError 400 with the names of those that do not exist, or the path of a cycle.
 */
export function collectPartials(
  documents: DocumentReader,
  template: Template,
  homes: { readonly prompt: Home; readonly caller: Home },
  variables: JsonObject | null,
): Maybe<CollectedPartials> {
  const known = collected.get(template);
  if (known !== undefined && isCurrent(documents, known.reads)) return known.partials;
  const reads: Read[] = [];
  const collector = new Collector(recording(documents, reads), homes.caller, variables);
  const named = collector.setOf(homes.prompt);
  const byVariables = collector.setOf(homes.caller);
  const conclude = (): CollectedPartials => {
    collector.check();
    const partials = { named, byVariables, all: collector.all };
    if (!collector.usesVariables) collected.set(template, { partials, reads });
    return partials;
  };
  const collecting = collector.collect(template, named);
  return isPromise(collecting) ? collecting.then(conclude) : conclude();
}

/** One document that was read, and the id under which it was found or absent. */
interface Read {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly document: unknown;
}

/**
 * Partials of templates whose variables name none. They are valid while each read still returns the same object: looking up five partials
 * again takes a fourth of the time of a rendering.
 */
const collected = new WeakMap<Template, { readonly partials: CollectedPartials; readonly reads: readonly Read[] }>();

function isCurrent(documents: DocumentReader, reads: readonly Read[]): boolean {
  return reads.every(({ kind, id, document }) => documents.get(kind, id) === document);
}

/** Returns a reader that adds each look-up to `reads`. */
function recording(documents: DocumentReader, reads: Read[]): DocumentReader {
  const get: DocumentReader['get'] = (kind, id) => {
    const found = documents.get(kind, id);
    if (isPromise(found)) {
      return found.then((document) => {
        reads.push({ kind, id, document });
        return document;
      });
    }
    reads.push({ kind, id, document: found });
    return found;
  };
  return { get };
}

class WorkspaceSet implements PartialSet {
  readonly home: Home;
  readonly found = new Map<string, { readonly partial: TemplatePartial; readonly inside: PartialSet }>();

  constructor(home: Home) {
    this.home = home;
  }

  get(reference: string) {
    return this.found.get(reference);
  }
}

/** A partial to read, and the references that lead to it. */
interface Use {
  readonly reference: string;
  readonly set: WorkspaceSet;
  readonly path: readonly string[];
}

class Collector {
  readonly all: TemplatePartial[] = [];
  /** True if a text names partials by variables, so that the result belongs to this request. */
  usesVariables = false;
  readonly #documents: DocumentReader;
  readonly #caller: Home;
  readonly #variables: JsonObject | null;
  readonly #sets = new Map<string, WorkspaceSet>();
  readonly #open: Use[] = [];
  #chars = 0;
  readonly #missing = new Set<string>();
  readonly #missingVariables = new Set<string>();

  constructor(documents: DocumentReader, caller: Home, variables: JsonObject | null) {
    this.#documents = documents;
    this.#caller = caller;
    this.#variables = variables;
  }

  setOf(home: Home): WorkspaceSet {
    let set = this.#sets.get(home.workspaceId);
    if (set === undefined) {
      set = new WorkspaceSet(home);
      this.#sets.set(home.workspaceId, set);
    }
    return set;
  }

  /** Reads depth first, so that a partial is complete before the next one beside it. */
  collect(template: Template, set: WorkspaceSet): Maybe<void> {
    this.#push(template, set, []);
    return this.#readAll();
  }

  check(): void {
    if (this.#missingVariables.size > 0) throw missing('Missing variable partials', this.#missingVariables, 'variables');
    if (this.#missing.size > 0) throw missing('Missing prompt partials', this.#missing);
  }

  #push(text: Template | TemplatePartial, set: WorkspaceSet, path: readonly string[]): void {
    for (const reference of partialsOf(text).toReversed()) this.#open.push({ reference, set, path });
    const names = variablePartialsOf(text);
    if (names.length > 0) this.usesVariables = true;
    if (this.#variables === null) return;
    for (const name of names) {
      const reference = Object.hasOwn(this.#variables, name) ? this.#variables[name] : undefined;
      if (typeof reference === 'string' && reference !== '') this.#open.push({ reference, set: this.setOf(this.#caller), path });
      else this.#missingVariables.add(name);
    }
  }

  #readAll(): Maybe<void> {
    for (let use = this.#open.pop(); use !== undefined; use = this.#open.pop()) {
      const { reference, set, path } = use;
      if (path.includes(reference)) throw cycle([...path.slice(path.indexOf(reference)), reference]);
      if (set.found.has(reference)) continue;
      const found = findPartial(this.#documents, set.home, reference);
      if (isPromise(found)) return this.#readLater(found, use);
      this.#take(found, use);
    }
  }

  async #readLater(found: Promise<FoundPartial | null>, use: Use): Promise<void> {
    this.#take(await found, use);
    await this.#readAll();
  }

  #take(found: FoundPartial | null, { reference, set, path }: Use): void {
    if (found === null) {
      this.#missing.add(reference);
      return;
    }
    if (this.all.length === partialsMax) {
      throw new GatewayError('bad_request', { message: `A prompt can have at most ${partialsMax} partials` });
    }
    this.#chars += found.partial.lengthIn('');
    if (this.#chars > charsMax) {
      throw new GatewayError('bad_request', {
        message: `The partials of a prompt can have at most ${charsMax} characters together`,
      });
    }
    const inside = this.setOf(found.home);
    set.found.set(reference, { partial: found.partial, inside });
    this.all.push(found.partial);
    this.#push(found.partial, inside, [...path, reference]);
  }
}

function cycle(references: readonly string[]): GatewayError {
  return new GatewayError('bad_request', { message: `Prompt partials include each other: ${references.join(' → ')}` });
}

function missing(what: string, names: ReadonlySet<string>, param?: string): GatewayError {
  const list = [...names].map((name) => name.slice(0, 255)).join(', ');
  return new GatewayError('bad_request', { message: `${what}: ${list}`, ...(param === undefined ? {} : { param }) });
}
