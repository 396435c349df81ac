/** Behaviour that a model name such as `text:hello there;delay=200;chunks=10` requests from the mock. */
export interface MockBehaviour {
  /** Text of the reply; null = repeat the last user message. */
  readonly text: string | null;
  /** Wait before the head of the reply. */
  readonly delayMs: number;
  /** Pieces the text is streamed in; null = one per word. */
  readonly chunks: number | null;
  /** Wait between two events of a stream. */
  readonly cadenceMs: number;
  readonly status: number;
  readonly retryAfterSeconds: number | null;
  /** Break the connection after this many events (streamed) or bytes (plain). */
  readonly cutAfter: number | null;
  /** Fall silent, forever, after this many events; 0 = no reply at all. */
  readonly stallAfter: number | null;
  /** Functions to call instead of a text. */
  readonly tools: readonly string[];
  readonly json: boolean;
  readonly usage: boolean;
}

type Draft = { -readonly [Key in keyof MockBehaviour]: MockBehaviour[Key] };

/** Returns the behaviour, or the error in the name. */
export function parseModelName(model: string): MockBehaviour | { readonly issue: string; readonly unknownModel: boolean } {
  const draft: Draft = { ...plainEcho };
  for (const [index, part] of model.split(';').entries()) {
    const text = part.trim();
    if (index === 0 && text === 'echo') continue;
    if (index === 0 && text.startsWith('text:')) {
      draft.text = text.slice('text:'.length);
      continue;
    }
    const [name = '', value] = splitOnce(text);
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option) {
      const what = index === 0 ? `there is no model "${text}"` : `there is no option "${name}"`;
      return {
        issue: `${what}: use echo or text:<words>, then ;<option>=<value> with ${optionNames}`,
        unknownModel: index === 0,
      };
    }
    const issue = option(draft, value);
    if (issue !== null) return { issue: `option ${name}: ${issue}`, unknownModel: false };
  }
  return draft;
}

const plainEcho: MockBehaviour = {
  text: null,
  delayMs: 0,
  chunks: null,
  cadenceMs: 0,
  status: 200,
  retryAfterSeconds: null,
  cutAfter: null,
  stallAfter: null,
  tools: [],
  json: false,
  usage: true,
};

/** Maximum number of functions that a reply calls. The arguments of each are an example of its schema. */
const toolsMax = 128;

const options: Record<string, (draft: Draft, value: string | null) => string | null> = {
  delay: (draft, value) => whole(value, 0, 600_000, (number) => (draft.delayMs = number)),
  chunks: (draft, value) => whole(value, 1, 100_000, (number) => (draft.chunks = number)),
  cadence: (draft, value) => whole(value, 0, 600_000, (number) => (draft.cadenceMs = number)),
  status: (draft, value) => whole(value, 200, 599, (number) => (draft.status = number)),
  'retry-after': (draft, value) => whole(value, 0, 86_400, (number) => (draft.retryAfterSeconds = number)),
  cut: (draft, value) => whole(value, 0, 1_000_000, (number) => (draft.cutAfter = number)),
  stall: (draft, value) => whole(value ?? '0', 0, 1_000_000, (number) => (draft.stallAfter = number)),
  tool: (draft, value) => {
    draft.tools = (value ?? '').split(',').filter((name) => name !== '');
    if (draft.tools.length > toolsMax) return `can have at most ${toolsMax} functions`;
    return draft.tools.length > 0 ? null : 'needs the name of a function, for example tool=get_weather';
  },
  json: (draft, value) => {
    draft.json = true;
    return value === null ? null : 'takes no value';
  },
  usage: (draft, value) => {
    draft.usage = false;
    return value === 'none' ? null : 'knows only usage=none';
  },
};

const optionNames = Object.keys(options).join(', ');

function whole(value: string | null, min: number, max: number, set: (number: number) => void): string | null {
  const number = value !== null && /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= min && number <= max)) return `needs a whole number from ${min} to ${max}`;
  set(number);
  return null;
}

function splitOnce(text: string): [string, string | null] {
  const at = text.indexOf('=');
  return at === -1 ? [text, null] : [text.slice(0, at), text.slice(at + 1)];
}
