import { after } from '../contract/values/maybe.ts';
import { hideIn, secretsOf } from '../pipeline/attempt/hide-credentials.ts';
import type { MessageReader } from './message-reader.ts';

/** Headers of every call to a server or an agent, by name. */
type OwnHeaders = Readonly<Record<string, string>>;

/** Finds errors, failed tools and tasks that have failed, at any depth. */
const failure = /"error"\s*:\s*[{"]|"isError"\s*:\s*true|"state"\s*:\s*"(?:TASK_STATE_)?(?:FAILED|REJECTED|AUTH[-_]REQUIRED)"/i;

/**
 * Returns a reader that replaces the credentials in `headers` by stars in messages that report a failure, before `reader` reads them. Servers and
 * agents repeat credentials in such messages, also with status 200.
 */
export function hidingReader(reader: MessageReader, headers: OwnHeaders): MessageReader {
  const secrets = secretsOf({ credentials: {}, headers: Object.entries(headers).flat() }).flatMap(spellings);
  if (secrets.length === 0) return reader;
  const { hold } = reader;
  const waiting: (string | null)[] = [];
  return {
    ...(hold
      ? {
          hold: {
            get isHolding() {
              return hold.isHolding;
            },
            release: async () => (await hold.release()).map((text, at) => text ?? waiting[at] ?? null),
          },
        }
      : {}),
    read(json) {
      const shown = failure.test(json) ? hideIn(json, secrets) : json;
      const own = shown === json ? null : shown;
      return after(reader.read(shown), (text) => {
        if (hold?.isHolding) waiting.push(own);
        return text ?? own;
      });
    },
  };
}

/** Returns a text with credentials replaced by stars. */
export function withoutCredentials(text: string, headers: OwnHeaders): string {
  return hideIn(text, secretsOf({ credentials: {}, headers: Object.entries(headers).flat() }));
}

/** Returns a credential as JSON has it. Some libraries escape slashes. */
function spellings(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  return [...new Set([json, json.replaceAll('/', '\\/')])];
}
