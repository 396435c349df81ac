import { isObject } from '../../../core/contract/values/json/json.ts';
import { pointerStep } from '../../../core/contract/values/json/json-pointer.ts';

/** Text in the definition of a tool that an administrator should read before approving it. */
export interface ToolFinding {
  readonly type: 'instruction' | 'concealment' | 'markup' | 'credential' | 'hidden_characters' | 'encoded_text' | 'shadowing';
  /** JSON pointer of the text. */
  readonly path: string;
  readonly text: string;
}

/** Patterns of prompt injection in descriptions. They show suspicious texts to a person and decide nothing. */
const patterns: readonly (readonly [ToolFinding['type'], RegExp])[] = [
  [
    'instruction',
    /\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:previous|prior|above|earlier|other|all)\b|\b(?:before|instead of|prior to) (?:using|calling|running) (?:any|every|all|other|this|the)\b|\byou (?:must|should) (?:always|first|now)\b/i,
  ],
  [
    'concealment',
    /\b(?:do not|don't|never|without)\b.{0,30}\b(?:tell|telling|mention|mentioning|inform|informing|show|reveal|notify|ask)\b.{0,30}\b(?:user|human|anyone|this)\b/i,
  ],
  ['markup', /<\s{0,10}\/?\s{0,10}(?:important|system|instructions?|secret|assistant|hidden|tool_call)\b[^>]{0,100}>|<!--/i],
  [
    'credential',
    /(?:~\/|\/)\.(?:ssh|aws|env|netrc|kube)\b|\bid_rsa\b|\bmcp\.json\b|\/etc\/passwd|\b(?:api|access|secret|private)[ _-]?keys?\b|\bpasswords?\b|\bcredentials?\b/i,
  ],
  ['hidden_characters', /[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]|[\u{E0000}-\u{E007F}]/u],
  ['encoded_text', /[A-Za-z0-9+/]{120,}={0,2}/],
];

const findingsMax = 50;
const excerptLength = 120;

/** Returns suspicious texts in the definition of a tool, at most 50. */
export function findSuspicious(definition: unknown): ToolFinding[] {
  const found: ToolFinding[] = [];
  for (const [path, text] of textsOf(definition, '')) {
    for (const [type, pattern] of patterns) {
      const match = pattern.exec(text);
      if (match) found.push({ type, path, text: excerpt(text, match.index) });
      if (found.length === findingsMax) return found;
    }
  }
  return found;
}

/** Returns the form under which names of tools are compared: models confuse names that differ in case, width or separators. */
export function comparable(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The part of a text around a match, with invisible characters written as code points. */
function excerpt(text: string, index: number): string {
  const start = Math.max(0, index - 20);
  return text
    .slice(start, start + excerptLength)
    .replace(/[^\P{C}\n]|\p{Cf}/gu, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

function* textsOf(value: unknown, path: string): Generator<[string, string]> {
  if (typeof value === 'string') yield [path, value];
  else if (Array.isArray(value)) for (const [index, one] of value.entries()) yield* textsOf(one, `${path}/${index}`);
  else if (isObject(value)) for (const [name, one] of Object.entries(value)) yield* textsOf(one, `${path}/${pointerStep(name)}`);
}
