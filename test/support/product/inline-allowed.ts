/**
 * Settings of first starts under test. New organisations block inline configs and providers, and most tests send their provider
 * inline. Tests of the block itself set `BOOTSTRAP_BLOCK_INLINE_CONFIG` to `true`.
 */
export const inlineAllowed = { BOOTSTRAP_BLOCK_INLINE_CONFIG: 'false' } as const;
