import type { PassedFormat } from '../../contract/provider/passed-usage.ts';

/** Streams have the usage of OpenAI's format in a member of their own. */
export const groqPassed: PassedFormat = { locations: { x_groq: { usage: true } }, read: () => null };
