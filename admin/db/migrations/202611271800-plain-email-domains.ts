import { Migration } from '@mikro-orm/migrations';
import { plainAddress } from '../../../core/contract/values/text/email-address.ts';

/**
 * Writes the domains of e-mail addresses in ASCII. A user or pending invite stays as it is if the organisation has another one with that
 * address: an administrator decides which of them is removed.
 */
export class PlainEmailDomains extends Migration {
  override async up(): Promise<void> {
    for (const [table, isTaken] of Object.entries(taken)) {
      const found = await this.execute(`select id, email from ${table} where split_part(email, '@', 2) ~ '[^ -~]'`);
      const rows = found as { id: string; email: string }[];
      for (const { id, email } of rows) {
        const plain = quoted(plainAddress(email));
        const others = `select 1 from ${table} o where o.organisation_id = r.organisation_id and o.id <> r.id and ${isTaken(plain)}`;
        this.addSql(`update ${table} r set email = ${plain} where id = ${quoted(id)} and not exists (${others})`);
      }
    }
  }
}

/** Condition of another row of the organisation with this address. */
const taken: Readonly<Record<string, (plain: string) => string>> = {
  users: (plain) => `${plain} in (o.email, lower(coalesce(o.user_name, o.email)))`,
  user_invites: (plain) => `o.email = ${plain} and o.status = 'pending' and r.status = 'pending'`,
};

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
