import type { Context } from './json-context.ts';

/** One part of a compiled template: literal text, or a tag. */
export type Segment = string | ValueTag | SectionTag | PartialTag;

interface ValueTag {
  readonly type: 'value';
  readonly path: readonly string[];
  readonly context: Context;
}

export interface SectionTag {
  readonly type: 'section';
  readonly path: readonly string[];
  readonly isInverted: boolean;
  readonly body: readonly Segment[];
}

export interface PartialTag {
  readonly type: 'partial';
  /** `pp-id` or `pp-id@5`; with `isVariable` the name of the variable that holds it. */
  readonly reference: string;
  readonly isVariable: boolean;
  readonly context: Context;
  /** White space before a tag on a line of its own. Each line of the partial is indented by it. */
  readonly indentation: string;
}

export interface Template {
  /** `messages`: renders to the JSON of a list of messages. `text`: renders to the text of a prompt. */
  readonly kind: 'messages' | 'text';
  readonly segments: readonly Segment[];
  /** The messages of a template whose tags are all inside of strings, else null. They render to the same values as `segments`. */
  readonly messages: CompiledMessages | null;
}

export interface CompiledMessages {
  readonly items: readonly MessageNode[];
  /** Length of the document without its tags, at least, in UTF-16 code units. */
  readonly length: number;
}

/** A value in the JSON of messages. */
export type MessageNode = string | boolean | null | ComputedText | ComputedList | ComputedObject;

/** A string with tags. */
interface ComputedText {
  readonly type: 'text';
  readonly segments: readonly Segment[];
}

interface ComputedList {
  readonly type: 'list';
  readonly items: readonly MessageNode[];
}

export interface ComputedObject {
  readonly type: 'object';
  /** All properties in their order. Those of `computed` are placeholders. */
  readonly shape: Readonly<Record<string, string | boolean | null>>;
  readonly computed: readonly (readonly [key: string, value: ComputedText | ComputedList | ComputedObject])[];
}
