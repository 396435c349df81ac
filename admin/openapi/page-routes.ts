import type { Operation, Parameter, RequestBody } from './document.ts';
import { failureRefs, pageFailures } from './responses.ts';

/** A page for people below `/auth`. */
interface PageRoute {
  readonly name: string;
  readonly summary: string;
  readonly query?: readonly string[];
  /** Fields of the form that the page takes. Absent: it takes none. */
  readonly form?: readonly string[];
}

const enrolment = ['name', 'factor_id', 'secret', 'uri', 'passcode'];

/** Pages by method and path. */
const pages: Readonly<Record<string, PageRoute>> = {
  'get /auth/sign-in': { name: 'getAuthSignIn', summary: 'The page to sign in', query: ['return_to'] },
  'post /auth/sign-in': {
    name: 'postAuthSignIn',
    summary: 'Sign in with a password, or with single sign-on if `method` is `sso`',
    form: ['email', 'password', 'method', 'organisation_id', 'return_to'],
  },
  'post /auth/second-factor': {
    name: 'postAuthSecondFactor',
    summary:
      'Complete the sign-in with a second factor, or add an authenticator app. `action` is `code`, `recovery`, `enrol` or `confirm`',
    form: ['action', 'pending_token', 'return_to', 'methods', 'recovery_code', ...enrolment],
  },
  'get /auth/forgot-password': { name: 'getAuthForgotPassword', summary: 'The page to request a link for a new password' },
  'post /auth/forgot-password': {
    name: 'postAuthForgotPassword',
    summary: 'Request a link for a new password',
    form: ['email'],
  },
  'get /auth/account': { name: 'getAuthAccount', summary: 'The page of second factors, password and sessions of the user' },
  'post /auth/account': {
    name: 'postAuthAccount',
    summary: 'Change the account. `action` is `add-app`, `confirm`, `remove`, `codes`, `password`, `session` or `logout`',
    form: ['action', 'current_password', 'new_password', 'session_id', ...enrolment],
  },
  'get /auth/link': {
    name: 'getAuthLink',
    summary: 'The page behind links in mails and replies: accepts an invite, sets a password, confirms an e-mail address',
  },
  'post /auth/link': {
    name: 'postAuthLink',
    summary: 'Open a link, or complete it with the fields of its page',
    form: ['link', 'kind', 'token', 'password', 'first_name', 'last_name'],
  },
};

const text = { type: 'string' };
const shared = { tags: ['auth'], security: [], 'x-svc-plane': 'control', 'x-svc-scopes': [] } as const;
const usual = [400, 405, 414, 429, 431, 500, 503];

/** Operations of the pages for people and of their files, with method and path. */
export function pageOperations(): readonly (readonly [method: string, path: string, Operation])[] {
  const operations = Object.entries(pages).map(([key, page]) => {
    const [method = '', path = ''] = key.split(' ');
    return [method, path, operationOf(page)] as const;
  });
  return [...operations, ['get', '/auth/assets/{name}', assets]];
}

function operationOf({ name, summary, query = [], form }: PageRoute): Operation {
  const html = { 'text/html': { schema: text } };
  return {
    ...shared,
    operationId: name,
    summary,
    parameters: query.map((field): Parameter => ({ name: field, in: 'query', required: false, schema: text })),
    ...(form ? { requestBody: formOf(form) } : {}),
    responses: {
      ...failureRefs(form ? [...usual, 413] : usual),
      ...pageFailures(form ? [400, 401, 403, 503] : [503]),
      200: { description: 'The page', content: html },
      303: { description: 'Redirect of the browser within this service' },
    },
  };
}

function formOf(fields: readonly string[]): RequestBody {
  const properties = Object.fromEntries(fields.map((field) => [field, text]));
  const schema = { type: 'object', properties, additionalProperties: text };
  return {
    required: true,
    description: 'Fields of the form. It must come from a page of this service, by its `origin`',
    content: { 'application/x-www-form-urlencoded': { schema } },
  };
}

const assets: Operation = {
  ...shared,
  operationId: 'getAuthAssetsByName',
  summary: 'A style sheet or a script of the pages',
  parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string', minLength: 1 } }],
  responses: {
    ...failureRefs([...usual, 404]),
    200: { description: 'The file', content: { 'text/css': { schema: text }, 'text/javascript': { schema: text } } },
  },
};
