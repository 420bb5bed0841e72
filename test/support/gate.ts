/** What waits for `opened` goes on when the test opens it, with what the test gives it; to open it once more changes nothing. */
export const gate = <T = void>(): { readonly opened: Promise<T>; readonly open: (value: T) => void } => {
  let open: (value: T) => void = () => undefined;
  const opened = new Promise<T>((resolve) => (open = resolve));
  return { opened, open };
};
