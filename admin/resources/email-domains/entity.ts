import { defineEntity, type InferEntity, p } from '@mikro-orm/core';

/** An e-mail domain of an organisation. Its addresses count at sign-in once a DNS record has proved the ownership. */
export const emailDomains = defineEntity({
  name: 'EmailDomain',
  tableName: 'email_domains',
  properties: {
    id: p.uuid().primary(),
    organisationId: p.uuid(),
    /** Lower case, in ASCII. */
    domain: p.text(),
    allowSubdomains: p.boolean(),
    /** Value of the TXT record. Public, so it is stored as it is. */
    challenge: p.text(),
    verifiedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    lastUpdatedAt: p.datetime(),
    /** Counts up with every change; the `etag`. */
    revision: p.integer().version(),
  },
});

export type EmailDomain = InferEntity<typeof emailDomains>;
