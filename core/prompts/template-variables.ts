import { TemplatePartial } from './compile-template.ts';
import type { PartialTag, Segment, Template } from './template.ts';

/** One use of a variable in a template. */
export interface TemplateVariable {
  /** `name`, or `user.name` for a member of an object. */
  readonly name: string;
  /** `partial`: the variable holds the reference of a partial. */
  readonly use: 'value' | 'section' | 'partial';
  /** Names of the sections around it. Inside of a section names are members of its items first. */
  readonly sections: readonly string[];
}

/** Returns the references of all partials of a template as they are written (`pp-id`, `pp-id@5`), without those that variables name. */
export function partialsOf(template: Template | TemplatePartial): readonly string[] {
  return namesOf(template).partials;
}

/** Returns the variables that hold references of partials. */
export function variablePartialsOf(template: Template | TemplatePartial): readonly string[] {
  return namesOf(template).variables;
}

/** Returns the uses of variables in a template, each once, in the order of the text. Variables of its partials are not included. */
export function variablesOf(template: Template | TemplatePartial): TemplateVariable[] {
  const found = new Map<string, TemplateVariable>();
  const add = (name: string, use: TemplateVariable['use'], sections: readonly string[]) => {
    if (name !== '.') found.set(JSON.stringify([name, use, sections]), { name, use, sections });
  };
  const walk = (segments: readonly Segment[], sections: readonly string[]) => {
    for (const segment of segments) {
      if (typeof segment === 'string') continue;
      if (segment.type === 'value') add(segment.path.join('.'), 'value', sections);
      if (segment.type === 'partial' && segment.isVariable) add(segment.reference, 'partial', sections);
      if (segment.type !== 'section') continue;
      const name = segment.path.join('.');
      add(name, 'section', sections);
      walk(segment.body, segment.isInverted ? sections : [...sections, name]);
    }
  };
  walk(segmentsOf(template), []);
  return [...found.values()];
}

interface PartialNames {
  readonly partials: readonly string[];
  readonly variables: readonly string[];
}

/** Collected once: every rendering needs them. */
const names = new WeakMap<Template | TemplatePartial, PartialNames>();

function namesOf(template: Template | TemplatePartial): PartialNames {
  let known = names.get(template);
  if (known === undefined) {
    const of = (isVariable: boolean) => {
      const tags = partialTagsOf(template).filter((tag) => tag.isVariable === isVariable);
      return [...new Set(tags.map(({ reference }) => reference))];
    };
    known = { partials: of(false), variables: of(true) };
    names.set(template, known);
  }
  return known;
}

function segmentsOf(template: Template | TemplatePartial): readonly Segment[] {
  return template instanceof TemplatePartial ? template.segments('text', '') : template.segments;
}

function partialTagsOf(template: Template | TemplatePartial): PartialTag[] {
  const collect = (segments: readonly Segment[]): PartialTag[] =>
    segments.flatMap((segment) => {
      if (typeof segment === 'string') return [];
      if (segment.type === 'section') return collect(segment.body);
      return segment.type === 'partial' ? [segment] : [];
    });
  return collect(segmentsOf(template));
}
