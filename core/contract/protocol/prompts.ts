import * as v from 'valibot';

/** Workspaces of the organisation that may read, render and fork: all of them, or those with these ids. Null: only its own. */
const sharedWith = v.nullable(v.union([v.literal('organisation'), v.array(v.string())]));

/** A number of 1 or more, as the text of an object's key. */
const versionKey = v.pipe(v.string(), v.regex(/^[1-9]\d*$/));

const objects = v.nullable(v.array(v.record(v.string(), v.unknown())));

/** One version of a prompt. Its content never changes; `virtualKey` can. */
const promptVersionDocument = v.object({
  /** Row id, for records. */
  id: v.string(),
  /** The template as saved: JSON of messages, or text. With `isRaw` it becomes JSON only when it is rendered. */
  template: v.string(),
  isRaw: v.boolean(),
  /** Parameters of the request body, without `model`. */
  parameters: v.record(v.string(), v.unknown()),
  model: v.nullable(v.string()),
  /** Slug of the provider in the workspace of the prompt; null: the request or its config decides. */
  virtualKey: v.nullable(v.string()),
  functions: objects,
  tools: objects,
  /** Undefined is never sent: null means that none is set. */
  toolChoice: v.unknown(),
  metadata: v.nullable(v.record(v.string(), v.unknown())),
});

/** A version that a label names. With several, each receives a share of the requests in proportion to its weight. */
const labelledVersion = v.object({ version: v.number(), weight: v.number() });

export const promptDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  sharedWith,
  /** By number: the published one, the newest one, and those with a label. Others have a document of their own. */
  versions: v.record(versionKey, promptVersionDocument),
  /** Number of the published version. */
  default: v.number(),
  /** Number of the newest version. */
  latest: v.number(),
  /** By name of the label. */
  labels: v.record(v.string(), v.array(labelledVersion)),
});

export const promptPartialDocument = v.object({
  id: v.string(),
  slug: v.string(),
  organisationId: v.string(),
  workspaceId: v.string(),
  sharedWith,
  /** By number: the published one and the newest one. Others have a document of their own. */
  versions: v.record(versionKey, v.object({ id: v.string(), text: v.string() })),
  default: v.number(),
  latest: v.number(),
});

export type PromptVersionDocument = v.InferOutput<typeof promptVersionDocument>;
export type PromptDocument = v.InferOutput<typeof promptDocument>;
export type PromptPartialDocument = v.InferOutput<typeof promptPartialDocument>;
