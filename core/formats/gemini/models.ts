/** Differences between Gemini models in the parameters they accept. */
export interface GeminiTraits {
  /** Control of reasoning: a level since 3, a budget of tokens at 2.5, none before. */
  readonly thinking: 'level' | 'budget' | 'none';
  /** Levels from least to most. Empty for models without levels. */
  readonly levels: readonly string[];
  /** Budgets in tokens, for models with budgets. A minimum of 0: reasoning can be switched off. */
  readonly budgetMin: number;
  readonly budgetMax: number;
  /** Accepts presence and frequency penalties, and more than one candidate: everything before 4. */
  readonly penalties: boolean;
  /** Requires function calls in the history to carry their ids and reasoning signatures: since 3. */
  readonly signedCalls: boolean;
  /** Accepts JSON as the form of the reply beside tools: since 3. Older models reject the two together. */
  readonly jsonBesideTools: boolean;
  /** Speech models from 3.8 accept instructions in `speechMetadata`. */
  readonly speechStyle: boolean;
  /** Images up to 4K are supported (`imageSize`): since 3. */
  readonly imageSizes: boolean;
}

/**
 * Returns the traits for the version in the model's name, so that the next model needs no new line here. A Gemini without a
 * version (`gemini-flash-latest`) counts as the newest. A name that is not a Gemini's counts as the oldest, which changes least.
 * Sources: Google's pages on thinking levels and budgets and on moving to Gemini 4, looked up 2026-11-21.
 */
export function traitsOf(model: string): GeminiTraits {
  const version = versionOf(model);
  const pro = /\bpro\b/.test(model);
  return {
    thinking: version >= 300 ? 'level' : version >= 205 ? 'budget' : 'none',
    levels: levelsOf(version, pro),
    budgetMin: pro ? 128 : 0,
    budgetMax: pro ? 32_768 : 24_576,
    penalties: version < 400,
    signedCalls: version >= 300,
    jsonBesideTools: version >= 300 || version === 0,
    speechStyle: version >= 308,
    imageSizes: version >= 300,
  };
}

function levelsOf(version: number, pro: boolean): readonly string[] {
  if (version === 300 && pro) return ['LOW', 'HIGH'];
  return version >= 307 || pro ? ['LOW', 'MEDIUM', 'HIGH'] : ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
}

/** Version as major · 100 + minor: `gemini-3.1-pro-preview` is 301, `gemini-4-argon` 400. */
function versionOf(model: string): number {
  const found = /gemini-(?:[a-z-]{1,64}-)?(\d{1,2})(?:\.(\d{1,2}))?(?!\d)/.exec(model);
  if (found) return Number(found[1]) * 100 + Number(found[2] ?? 0);
  return /gemini-(?!embedding)/.test(model) ? 9999 : 0;
}
