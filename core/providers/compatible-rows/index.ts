import { type CompatibleAdapter, openAiCompatible } from '../../formats/openai/openai-compatible.ts';
import { rows } from './rows.ts';

/** Providers that are one row of `rows.ts` each. One that grows quirks of its own moves to a folder of its own. */
export const compatibleRows: readonly CompatibleAdapter[] = rows.map(openAiCompatible);
