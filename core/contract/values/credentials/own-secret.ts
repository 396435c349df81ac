/** Kinds of secrets with a public id of 12 characters before the secret part. */
const kindsWithId = ['admin', 'ws', 'user', 'job'] as const;
const otherKinds = ['session', 'refresh', 'oauth', 'scim', 'link', 'invite', 'pending', 'browser', 'code', 'state'] as const;

type Kind = (typeof kindsWithId)[number] | (typeof otherKinds)[number];

/** The beginning of a secret of this service. Such texts are masked in logs and never sent to a provider. */
export type OwnSecretPrefix = `svc_${Kind}_`;

/** Source of an expression for such a beginning. */
export const ownSecretPrefix = `svc_(?:${[...kindsWithId, ...otherKinds].join('|')})_`;

/** Source of an expression for the part of a secret that logs show: its kind, and its public id if it has one. */
export const ownSecretShown = `(?:svc_(?:${kindsWithId.join('|')})_[0-9A-Za-z]{12}_|${ownSecretPrefix})`;
