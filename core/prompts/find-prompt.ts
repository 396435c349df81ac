import type { Identity } from '../contract/plugin/context.ts';
import type { DocumentReader } from '../contract/plugin/plugin.ts';
import type { PromptDocument, PromptPartialDocument, PromptVersionDocument } from '../contract/protocol/prompts.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { after, type Maybe } from '../contract/values/maybe.ts';
import { compileTemplate, TemplatePartial } from './compile-template.ts';
import type { Template } from './template.ts';
import { TemplateError } from './template-error.ts';

/** The workspace whose prompts and partials a reference names. */
export type Home = Pick<Identity, 'organisationId' | 'workspaceId'>;

export interface FoundPrompt {
  readonly document: PromptDocument;
  /** Number of the version. */
  readonly number: number;
  /** The label in the reference; null if it has none. */
  readonly label: string | null;
  readonly version: PromptVersionDocument;
  readonly template: Template;
}

export interface FoundPartial {
  readonly partial: TemplatePartial;
  /** The workspace of the partial, in which its own references are looked up. */
  readonly home: Home;
}

/**
 * Returns the prompt that `pp-id`, `pp-id@12`, `pp-id@latest` or `pp-id@label` names, by slug or id: the workspace's own, else one that
 * is shared with it. A label on several versions chooses one by weight. Null if there is none. Throws GatewayError `unavailable`.
 */
export function findPrompt(
  documents: DocumentReader,
  home: Home,
  reference: string,
  random: () => number,
): Maybe<FoundPrompt | null> {
  const [, name, selector] = promptReference.exec(reference) ?? [];
  if (name === undefined) return null;
  return after(findDocument(documents, 'prompt', home, name), (found) => {
    if (found === null) return null;
    const { document, owner } = found;
    const number = numberOf(document, selector, random);
    if (number === null) return null;
    const label = selector === undefined || selector === 'latest' || isNumber(selector) ? null : selector;
    return after(versionOf(documents, 'prompt', document, owner, number), (version) =>
      version === null ? null : { document, number, label, version, template: templateOf(version, reference) },
    );
  });
}

/** Like `findPrompt`, for `pp-id`, `pp-id@5` and `pp-id@latest`. Partials have no labels. */
export function findPartial(documents: DocumentReader, home: Home, reference: string): Maybe<FoundPartial | null> {
  const [, name, selector] = promptReference.exec(reference) ?? [];
  if (name === undefined) return null;
  return after(findDocument(documents, 'prompt-partial', home, name), (found) => {
    if (found === null) return null;
    const { document, owner } = found;
    const number = selector === undefined ? document.default : numberOf({ ...document, labels: {} }, selector, Math.random);
    if (number === null) return null;
    return after(versionOf(documents, 'prompt-partial', document, owner, number), (version) =>
      version === null ? null : { partial: partialOf(version, reference), home: document },
    );
  });
}

/** Slugs have up to 255 letters, digits, `-` and `_`. */
const promptReference = /^([A-Za-z0-9_-]{1,255})(?:@([^@\s/]{1,255}))?$/;

type Kind = 'prompt' | 'prompt-partial';
type DocumentOf<K extends Kind> = K extends 'prompt' ? PromptDocument : PromptPartialDocument;

interface Owned<K extends Kind> {
  readonly document: DocumentOf<K>;
  /** Id under which the document was found: that of the workspace, or of the organisation if it is shared. */
  readonly owner: string;
}

function findDocument<K extends Kind>(documents: DocumentReader, kind: K, home: Home, name: string): Maybe<Owned<K> | null> {
  const { workspaceId, organisationId } = home;
  return after(documents.get(kind, `${workspaceId}/${name}`) as Maybe<DocumentOf<K> | null>, (own) => {
    if (own?.workspaceId === workspaceId) return { document: own, owner: workspaceId };
    return after(documents.get(kind, `${organisationId}/${name}`) as Maybe<DocumentOf<K> | null>, (shared) => {
      if (shared === null || shared.organisationId !== organisationId) return null;
      const isShared = shared.sharedWith === 'organisation' || shared.sharedWith?.includes(workspaceId);
      return isShared ? { document: shared, owner: organisationId } : null;
    });
  });
}

function numberOf(
  document: Pick<PromptDocument, 'default' | 'latest' | 'labels'>,
  selector: string | undefined,
  random: () => number,
): number | null {
  if (selector === undefined) return document.default;
  if (selector === 'latest') return document.latest;
  if (isNumber(selector)) return Number(selector);
  const labelled = Object.hasOwn(document.labels, selector) ? (document.labels[selector] ?? []) : [];
  const total = labelled.reduce((sum, { weight }) => sum + weight, 0);
  let left = random() * total;
  for (const { version, weight } of labelled) {
    left -= weight;
    if (left < 0) return version;
  }
  return labelled[0]?.version ?? null;
}

/** Labels cannot consist of digits. */
function isNumber(selector: string): boolean {
  return /^\d+$/.test(selector);
}

type VersionOf<K extends Kind> = DocumentOf<K>['versions'][string];

/** Returns a version. Those that only a number names have documents of their own. */
function versionOf<K extends Kind>(
  documents: DocumentReader,
  kind: K,
  { id, versions }: DocumentOf<K>,
  owner: string,
  number: number,
): Maybe<VersionOf<K> | null> {
  const key = String(number);
  if (Object.hasOwn(versions, key)) return versions[key] as VersionOf<K>;
  return after(documents.get(kind, `${owner}/${id}/${key}`) as Maybe<DocumentOf<K> | null>, (pinned) =>
    pinned?.id === id && Object.hasOwn(pinned.versions, key) ? (pinned.versions[key] as VersionOf<K>) : null,
  );
}

/** Compiled once per version, and dropped with its document. */
const templates = new WeakMap<PromptVersionDocument, Template>();
const partials = new WeakMap<PromptPartialDocument['versions'][string], TemplatePartial>();

function templateOf(version: PromptVersionDocument, reference: string): Template {
  let template = templates.get(version);
  if (template === undefined) {
    template = named(reference, () => compileTemplate(version.template, version));
    templates.set(version, template);
  }
  return template;
}

function partialOf(version: PromptPartialDocument['versions'][string], reference: string): TemplatePartial {
  let partial = partials.get(version);
  if (partial === undefined) {
    partial = named(reference, () => new TemplatePartial(version.text));
    partials.set(version, partial);
  }
  return partial;
}

function named<T>(reference: string, compile: () => T): T {
  try {
    return compile();
  } catch (thrown) {
    if (!(thrown instanceof TemplateError)) throw thrown;
    throw new GatewayError('bad_request', { message: `${reference}: ${thrown.message}` });
  }
}
