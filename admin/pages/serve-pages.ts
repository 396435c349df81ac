import type { Context, Hono } from 'hono';
import type { AdminServices } from '../http/admin-services.ts';
import { clientOrigin } from '../http/caller/client-address.ts';
import { requestOrigin } from '../http/caller/same-origin.ts';
import { AdminError, missing } from '../http/errors.ts';
import { failedReply } from '../http/reply/failed-reply.ts';
import { readForm } from '../http/request/read-form.ts';
import { showAccount, submitAccount } from './account-page.ts';
import { assetReply } from './assets.ts';
import { createCallApi } from './call-api.ts';
import { showLink, submitLink } from './link-page.ts';
import type { Form, PageCall } from './page-call.ts';
import { submitSecondFactor } from './second-factor-page.ts';
import { showForgotPassword, showSignIn, submitForgotPassword, submitSignIn } from './sign-in-page.ts';

interface PageHandlers {
  readonly get?: (call: PageCall) => Response | Promise<Response>;
  readonly post?: (call: PageCall, form: Form) => Promise<Response>;
}

/** Pages below `/v1/auth` and `/v2/auth`. Their links are relative, so that they work below both. */
const pages: Readonly<Record<string, PageHandlers>> = {
  'sign-in': { get: showSignIn, post: submitSignIn },
  'second-factor': { post: submitSecondFactor },
  'forgot-password': { get: showForgotPassword, post: submitForgotPassword },
  account: { get: showAccount, post: submitAccount },
  link: { get: showLink, post: submitLink },
};

/** Serves the pages for people: sign-in, links of mails, and account security. They work without JavaScript, except security keys. */
export function servePages(app: Hono, bases: readonly string[], services: AdminServices): void {
  const api = createCallApi((request, env) => app.fetch(request, env as never));
  const guarded = (handle: (c: Context) => Promise<Response>) => async (c: Context) => {
    try {
      services.limits.perAddress.take(clientOrigin(c, services).address);
      return await handle(c);
    } catch (thrown) {
      return failedReply(services, thrown, `${c.req.method} ${c.req.path.replace(/^\/v[12]/, '')}`);
    }
  };
  for (const base of bases) {
    for (const [name, { get, post }] of Object.entries(pages)) {
      const path = `${base}/auth/${name}`;
      if (get)
        app.get(
          path,
          guarded(async (c) => get({ c, api })),
        );
      if (post)
        app.post(
          path,
          guarded(async (c) => post({ c, api }, await ownForm(c, services))),
        );
    }
    app.get(`${base}/auth/assets/:name`, (c) => {
      const file = assetReply(c.req.param('name'));
      return file ?? failedReply(services, missing('The page has no such file'), 'GET /auth/assets/:name');
    });
  }
}

/** Reads a form that one of our own pages sent. Other sites could otherwise sign a visitor in with another account. */
async function ownForm(c: Context, { settings }: AdminServices): Promise<Form> {
  if (requestOrigin((name) => c.req.header(name), settings) !== 'same') {
    throw new AdminError('AB03', 'This form must be sent from a page of this service');
  }
  const fields = await readForm(c.req);
  return (name) => fields[name] ?? '';
}
