// Shows messages and lockouts in React Native. Mount <Messages /> above the app's screens.

import AsyncStorage from '@react-native-async-storage/async-storage';
import { useEffect, useRef, useState } from 'react';
import { AppState, Button, Linking, Modal, Platform, ScrollView, Text } from 'react-native';
import { VersionGate } from 'versiongate';

const app = { bundle: 'com.example.doto', version: '1.0', build: '42', platform: Platform.OS };
const gate = new VersionGate({ server: 'https://gate.example.com', app, storage: AsyncStorage });

/** The messages of a later check take the place of those before. */
const merge = (old, given) =>
  [...old.filter((one) => !one.lockout && given.every(({ id }) => id !== one.id)), ...given];

export function Messages() {
  const [messages, setMessages] = useState([]);
  const isLocked = useRef(false);
  const check = () => gate.check({ force: isLocked.current }).then((given) => {
    isLocked.current = given.some(({ lockout }) => lockout);
    setMessages((old) => merge(old, given));
  });
  useEffect(() => {
    check();
    const subscription = AppState.addEventListener('change', (state) => state === 'active' && check());
    return () => subscription.remove();
  }, []);
  const [message] = messages;
  if (message === undefined) return null;
  const close = (tell) => () => {
    tell();
    setMessages((old) => old.filter((one) => one.lockout || one !== message));
  };
  return (
    <Modal onRequestClose={() => {}}>
      <Text>{message.title}</Text>
      <ScrollView><Text>{message.text}</Text></ScrollView>
      {message.link && <Button title="Open" onPress={close(() => Linking.openURL(message.opened()))} />}
      {message.skippable && <Button title="Do not show again" onPress={close(() => message.skip())} />}
      {message.lockout && <Button title="Try again" onPress={check} />}
      {!message.lockout && <Button title="Close" onPress={close(() => message.dismiss())} />}
    </Modal>
  );
}
