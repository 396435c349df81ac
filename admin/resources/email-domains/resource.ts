import { defineResource, idOfReply } from '../../define-resource.ts';
import { emailDomains } from './entity.ts';
import { emailDomainRoutes } from './routes.ts';

export const emailDomainsResource = defineResource({
  name: 'email-domains',
  after: ['users'],
  entities: [emailDomains],
  routes: emailDomainRoutes,
  samples: [
    {
      create: '/admin/email-domains',
      item: '/admin/email-domains/{emailDomainId}',
      list: '/admin/email-domains',
      body: (_, __, n, mark) => ({ domain: `${mark}-${n}.example.com` }),
      // A change has no text.
      update: () => null,
      ofWorkspace: false,
      idOf: idOfReply,
    },
  ],
});
