import { createHmac, createSecretKey, timingSafeEqual } from 'node:crypto';

/** Makes and checks seals: values that only someone with the server's secret can make for a text. */
export type Seals = {
  /** The HMAC-SHA256 of a text in UTF-8, base64url. */
  of(text: string): string;
  /** Whether a value is the seal of another. Both may come from a store, so what is no text does not fit. */
  fits(text: unknown, mac: unknown): boolean;
};

/** @param key 32 bytes, of `deriveKey` */
export const createSeals = (key: Uint8Array): Seals => {
  const secret = createSecretKey(key);
  const of = (text: string): string => createHmac('sha256', secret).update(text).digest('base64url');
  return {
    of,
    fits: (text, mac) => {
      if (typeof text !== 'string' || typeof mac !== 'string') return false;
      const [expected, given] = [Buffer.from(of(text)), Buffer.from(mac)];
      return expected.length === given.length && timingSafeEqual(expected, given);
    },
  };
};
