/** Differences between Claude models in the parameters they accept. */
export interface ModelTraits {
  /** Form of a request for reasoning: `adaptive` with an effort since 4.6, a `budget` of tokens before. */
  readonly thinking: 'adaptive' | 'budget';
  /** Reasons without a request for it: everything since 5.0. */
  readonly thinksByDefault: boolean;
  /** Form that switches reasoning off: an omitted field, a `thinking` type, or none. */
  readonly off: 'omit' | 'disabled' | 'between_tools' | 'never';
  /** Accepts temperature, top_p and top_k: everything before 4.7. Later models return 400. */
  readonly sampling: boolean;
  /** Accepts the effort `xhigh`: since 4.7. */
  readonly xhigh: boolean;
}

/**
 * Returns the traits for the version in the model's name, so that the next model needs no new line here. A Claude without a
 * version counts as the newest. A name that is not a Claude's (a compatible server behind `custom_host`) counts as the oldest,
 * which changes least. Sources: platform.claude.com thinking, effort and migration pages, read 2026-11-21.
 */
export function traitsOf(model: string): ModelTraits {
  const { family, version } = parseModel(model);
  return {
    thinking: version >= 406 ? 'adaptive' : 'budget',
    thinksByDefault: version >= 500,
    off: offSwitch(family, version),
    sampling: version < 407,
    xhigh: version >= 407,
  };
}

function offSwitch(family: string, version: number): ModelTraits['off'] {
  if (version < 500) return 'omit';
  if (family === 'fable' || family === 'mythos' || (family === 'opus' && version >= 505)) return 'never';
  return family === 'sonnet' && version >= 505 ? 'between_tools' : 'disabled';
}

/** Version as major · 100 + minor. `claude-sonnet-4-20250514` is 4.0: eight digits are a date, not a minor version. */
function parseModel(model: string): { family: string; version: number } {
  const named = /claude-([a-z]+)-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  if (named) return { family: named[1] as string, version: Number(named[2]) * 100 + Number(named[3] ?? 0) };
  const numbered = /claude-(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)/.exec(model);
  if (numbered) return { family: '', version: Number(numbered[1]) * 100 + Number(numbered[2] ?? 0) };
  return { family: /claude-([a-z]+)/.exec(model)?.[1] ?? '', version: /claude-/.test(model) ? 9999 : 0 };
}
