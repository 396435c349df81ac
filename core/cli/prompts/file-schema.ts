import * as v from 'valibot';

const anything = v.record(v.string(), v.unknown());
const text = v.pipe(v.string(), v.minLength(1, 'must not be empty'));
const objects = v.optional(v.array(anything), []);

const messages = v.array(v.looseObject({ role: v.string('a role is expected') }, 'a message with role and content is expected'));

/** A prompt in a file. The name of the file is its slug. */
export const promptFile = v.pipe(
  v.strictObject({
    name: text,
    /** The template, in one of three forms: messages, the text of a completion, or a raw template. */
    messages: v.optional(messages),
    text: v.optional(v.string()),
    raw: v.optional(v.string()),
    model: v.optional(text),
    virtual_key: v.optional(text),
    parameters: v.optional(anything, {}),
    functions: objects,
    tools: objects,
    tool_choice: v.optional(v.union([v.string(), anything])),
    template_metadata: v.optional(anything),
    /** Reason of the change, stored with a new version. */
    description: v.optional(v.string()),
    /** False: new versions are not published. */
    publish: v.optional(v.boolean(), true),
    /** Labels that name the version of this file. */
    labels: v.optional(v.array(text), []),
  }),
  v.check(
    ({ messages, text, raw }) => [messages, text, raw].filter((one) => one !== undefined).length === 1,
    'one of messages, text and raw is expected',
  ),
);
export type PromptFile = v.InferOutput<typeof promptFile>;

export const partialFile = v.strictObject({
  name: text,
  text: v.string('the text of the partial is expected'),
  description: v.optional(v.string()),
  publish: v.optional(v.boolean(), true),
});
export type PartialFile = v.InferOutput<typeof partialFile>;

/** `labels.yaml`. */
export const labelsFile = v.array(
  v.strictObject({ name: text, description: v.optional(v.string()), color_code: v.optional(v.string()) }),
);
export type LabelFile = v.InferOutput<typeof labelsFile>[number];
