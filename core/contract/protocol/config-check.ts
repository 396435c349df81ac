import * as v from 'valibot';

/**
 * Gateways alone load plugins, so the control plane asks one of them whether a config with settings of plugins compiles: `POST` with the
 * cluster key as bearer and `configCheck` as body; 200 `configCheckReply`.
 */
export const configCheckPath = '/internal/v1/config-checks';

/** Milliseconds until a gateway must have answered. */
export const configCheckMs = 2_000;

export const configCheck = v.object({ config: v.unknown() });

/** One line per fault, with its path; empty if the config compiles. */
export const configCheckReply = v.object({ errors: v.array(v.string()) });
