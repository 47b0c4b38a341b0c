def test_x(label_studio):
    with label_studio.client.translated("x"):
        print(label_studio.client.sdk.users.whoami())
        print(label_studio.client.sdk.versions.get())
