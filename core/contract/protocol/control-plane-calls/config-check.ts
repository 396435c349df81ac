import * as v from 'valibot';

/**
 * A config check that the control plane requests from a gateway, because only gateways load plugins. It checks that a config with
 * settings of plugins compiles. `POST` with the cluster key as bearer and `configCheck` as body; 200 `configCheckReply`.
 */
export const configCheckPath = '/internal/v1/config-checks';

/** Milliseconds within which a gateway must reply. */
export const configCheckMs = 2_000;

export const configCheck = v.object({ config: v.unknown() });

/** One line per issue, with its path; empty if the config compiles. */
export const configCheckReply = v.object({ errors: v.array(v.string()) });
