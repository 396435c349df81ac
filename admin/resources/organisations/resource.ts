import { defineResource } from '../../define-resource.ts';
import { toOrganisationDocument } from '../../identity/jwt/documents.ts';
import { organisations } from './entity.ts';
import { organisationRoutes } from './routes.ts';

export const organisationsResource = defineResource({
  name: 'organisations',
  entities: [organisations],
  routes: organisationRoutes,
  documents: [{ kind: 'organisation', read: ({ database }, id) => toOrganisationDocument(database.em(), id) }],
});
