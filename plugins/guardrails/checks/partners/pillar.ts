import * as v from 'valibot';
import type { Check, Side } from '../check.ts';
import { bearer, definePartner, secret } from './partner.ts';

const scanners = ['prompt_injection', 'pii', 'secrets', 'toxic_language', 'invisible_characters'] as const;

/** https://docs.pillar.security */
const scan = (id: string, side: Side, path: string): Check =>
  definePartner({
    id,
    sides: [side],
    parameters: { scanners: v.optional(v.pipe(v.array(v.picklist(scanners)), v.minLength(1)), [...scanners]) },
    credentials: { apiKey: secret },
    response: v.pipe(
      v.record(v.string(), v.unknown()),
      v.check((reply) => scanners.some((name) => name in reply), 'expected the result of a scanner'),
    ),
    toRequest: ({ text, parameters, credentials }) => ({
      url: `https://api.pillarseclabs.com/api/v1/scan/${path}`,
      headers: bearer(credentials.apiKey),
      body: { message: text, scanners: Object.fromEntries(parameters.scanners.map((name) => [name, true])) },
    }),
    toVerdict(response) {
      const found = scanners.filter(
        (name) => response[name] !== undefined && response[name] !== null && response[name] !== false,
      );
      return { verdict: found.length === 0, data: { found } };
    },
  });

export const pillar: readonly Check[] = [
  scan('pillar.scanPrompt', 'input', 'prompt'),
  scan('pillar.scanResponse', 'output', 'response'),
];
