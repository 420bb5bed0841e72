import { sql } from 'kysely';

/**
 * The database's clock, in milliseconds since 1970: the same for all servers, and the same instant throughout a statement. If each server used its
 * own clock, one that is a day ahead would expire what all of them share.
 */
export const NOW_MS = sql<number>`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;
