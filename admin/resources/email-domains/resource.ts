import { defineResource } from '../../define-resource.ts';
import { emailDomains } from './entity.ts';

export const emailDomainsResource = defineResource({
  name: 'email-domains',
  after: ['organisations'],
  entities: [emailDomains],
});
